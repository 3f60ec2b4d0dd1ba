/** What waits names what it waits for: the limit, its slots, who holds them, and what would move it. */
import { describe, expect, it } from 'vitest';
import type { NodeDefinition, PipelineDefinition } from '#domain/definition.ts';
import { explainUnfinished } from '#domain/explain.ts';
import { compilePipeline } from '#domain/graph.ts';
import { viewItem } from '#domain/item-view.ts';
import type { EngineState, LimitHolder, LimitRecord } from '#domain/limit.ts';
import { viewMap } from '#domain/map-view.ts';
import { tellItems, tellStories } from '#domain/node-story.ts';
import { viewNode } from '#domain/node-view.ts';
import type { Decision, Flight, RunLimit, RunRecord } from '#domain/run.ts';
import type { LimitSeen, RunScope } from '#domain/run-scope.ts';
import { viewRun } from '#domain/run-view.ts';
import { limitsInTheWay, limitsOfRunView } from '#domain/waiting-for.ts';

const NOW = Date.UTC(2026, 10, 30, 12);
const OWN = 'o'.repeat(26);
const OTHER = 'x'.repeat(26);

const ENGINE: EngineState = { generation: 1, stateMachineArn: 'arn:slow', labels: [], updatedAt: NOW - 60_000 };

function run(nodes: string, more: Partial<RunRecord> = {}): RunRecord {
  return {
    schemaVersion: 1,
    id: OWN,
    pipeline: 'p',
    revision: 'r',
    nonce: 'b'.repeat(8),
    secret: 's',
    rev: 7,
    state: 'RUNNING',
    reason: 'Executing',
    since: NOW,
    createdAt: NOW,
    trigger: { type: 'api' },
    tags: [],
    inputHash: 'h',
    nodes,
    machines: ['arn:slow'],
    flights: [],
    decisions: [],
    announced: { rev: 0, state: 'RUNNING' },
    ...more,
  };
}

function scopeOf(
  record: RunRecord,
  nodes: readonly NodeDefinition[],
  limits: Readonly<Record<string, LimitSeen>> = {},
  more: Partial<PipelineDefinition> = {},
): RunScope {
  const pipeline = compilePipeline({ name: 'p', nodes, ...more }, 'r');
  const engines = new Map([['lambda', { stateMachineArn: 'arn:lambda' }]]);
  return {
    pipeline,
    run: record,
    now: NOW,
    installation: 'millrace',
    engines,
    limits: new Map(Object.entries(limits)),
  };
}

function holder(id: string, slots = 1, pipeline = 'p'): LimitHolder {
  return { run: id, nonce: 'n', pipeline, granted: slots + 2, returned: 2 };
}

function engine(slots: number | undefined, holders: readonly LimitHolder[] = [], state: Partial<EngineState> = {}) {
  const sized = slots === undefined ? {} : { slots };
  return { name: 'engine/slow', rev: 1, ...sized, engine: { ...ENGINE, ...state }, holders } satisfies LimitRecord;
}

function pool(slots: number, holders: readonly LimitHolder[] = []): LimitRecord {
  return { name: 'pool/db', rev: 1, slots, holders };
}

function explain(scope: RunScope, index = 0) {
  const node = scope.pipeline.nodes[index];
  const story = tellStories(scope.run, scope.run.decisions)[index];
  if (!node || !story) throw new Error('no node');
  const { reason, message, movedBy, engine: named, pool: ofPool } = explainUnfinished(scope, node, { story });
  return { reason, message, movedBy, named: named ?? ofPool };
}

const SLOW = [{ id: 'a', engine: 'slow', params: {} }];
const POOLED = [{ id: 'a', engine: 'slow', pool: 'db', params: {} }];

describe('a node that waits for a slot of its engine', () => {
  const waits = (record: LimitRecord, ahead?: LimitSeen['ahead']) =>
    explain(scopeOf(run('e'), SLOW, { 'engine/slow': { record, ...(ahead && { ahead }) } }));

  it('names the run that holds the only one, and who waits before it', () => {
    expect(waits(engine(1, [holder(OTHER, 1, 'etl')]), { count: 3, hasMore: false })).toEqual({
      reason: 'EngineFull',
      message: `Waits for a slot of engine "slow": the only one is taken by run ${OTHER} of "etl". 3 runs of its pipeline wait before it.`,
      movedBy: 'The end of an attempt on engine "slow".',
      named: 'slow',
    });
  });

  it('names its own run first, three runs in all, and how many slots each holds', () => {
    const many = ['q', 'r', 's'].map((letter) => holder(letter.repeat(26)));
    expect(waits(engine(6, [...many, holder(OWN, 3)]), { count: 50, hasMore: true }).message).toBe(
      `Waits for a slot of engine "slow": all 6 are taken by this run (3), run ${'q'.repeat(26)}, run ${'r'.repeat(26)} and 1 more.` +
        ' More than 50 runs of its pipeline wait before it.',
    );
  });

  it('says so where more are held than there are, some are free, or there is no limit any more', () => {
    expect(waits(engine(1, [holder(OTHER, 2)])).message).toBe(
      `Waits for a slot of engine "slow": 2 are taken by run ${OTHER} (2), and it has 1.`,
    );
    expect(waits(engine(2, [holder(OTHER)])).message).toBe(
      'Waits for a slot of engine "slow": 1 of 2 is free, for whoever is next.',
    );
    expect(waits(engine(undefined)).message).toBe('Waits for engine "slow", which has room.');
  });

  it('names those alone that hold any', () => {
    const over = { ...holder(OWN), granted: 2 };
    expect(waits(engine(1, [over, holder(OTHER)])).message).toContain(`taken by run ${OTHER}.`);
  });

  it('is told without its holders where nobody looked', () => {
    expect(explain(scopeOf(run('e'), SLOW))).toMatchObject({
      reason: 'EngineFull',
      message: 'Waits for a slot of engine "slow".',
    });
  });
});

describe('a node whose engine takes no work', () => {
  const waits = (code: string, record?: LimitRecord) =>
    explain(scopeOf(run(code), SLOW, { 'engine/slow': record ? { record } : {} }));

  it('says whether it is not there, drains, is silent, or has lost its state machine', () => {
    expect(waits('n')).toEqual({
      reason: 'NoEngine',
      message: 'No engine named "slow" is registered.',
      movedBy: 'Register an engine named "slow", or stop the run.',
      named: 'slow',
    });
    expect(waits('g', engine(1, [], { isDraining: true }))).toMatchObject({
      reason: 'EngineDraining',
      message: 'Engine "slow" is draining: it takes no new work; what runs on it finishes.',
    });
    expect(waits('n', engine(1, [], { heartbeatSeconds: 30 }))).toMatchObject({
      reason: 'NoEngine',
      message: 'Engine "slow" is Unavailable: Its owner has not reported for 30 s.',
      movedBy: 'A report of its owner, or engine "slow" put again.',
    });
    expect(waits('n', engine(1, [], { trouble: 'Its state machine is gone.' })).message).toBe(
      'Engine "slow" is Unavailable: Its state machine is gone.',
    );
  });

  it('says how the engine stands now, whatever the run was told last', () => {
    expect(waits('e')).toMatchObject({ reason: 'NoEngine' });
    expect(waits('n', engine(1, [holder(OTHER)]))).toMatchObject({ reason: 'EngineFull' });
    expect(waits('n', engine(1)).message).toBe('Engine "slow" takes work again.');
  });
});

describe('a node that waits for a slot of a pool', () => {
  const waits = (seen: LimitSeen) => explain(scopeOf(run('o'), POOLED, { 'pool/db': seen }));

  it('names the pool and its holders', () => {
    expect(waits({ record: pool(2, [holder(OTHER), holder(OWN)]) })).toEqual({
      reason: 'PoolFull',
      message: `Waits for a slot of pool "db": all 2 are taken by this run and run ${OTHER}.`,
      movedBy: 'The end of an attempt that holds a slot of pool "db".',
      named: 'db',
    });
  });

  it('says so where the pool has no slots, or is not there', () => {
    expect(waits({ record: pool(0) })).toMatchObject({
      message: 'Waits for a slot of pool "db", which has none.',
      movedBy: 'Give pool "db" slots.',
    });
    expect(waits({})).toMatchObject({ reason: 'PoolFull', message: 'There is no pool named "db".' });
  });
});

function flight(more: Partial<Flight>): Flight {
  const base = { node: 0, attempt: 1, phase: 'queued', startedAt: NOW - 9_000, since: NOW - 8_000 } as const;
  return { ...base, pollAt: NOW - 5_000, polls: 0, machine: 0, confirmed: true, ...more };
}

const IN_LINE: RunLimit = {
  limit: 'engine/slow',
  taken: 1,
  returned: 1,
  released: 1,
  held: 0,
  waiting: { need: 2, priority: 0, since: NOW - 5_000 },
  row: { wants: 3, priority: 0, since: NOW - 5_000 },
};

describe('what waits after a failed attempt', () => {
  const retry = { maxAttempts: 3 };
  const full: LimitSeen = { record: engine(1, [holder(OTHER)]) };
  const decisions: Decision[] = [
    { at: NOW - 9_000, rev: 2, to: 'r', nodes: [0], attempt: 1 },
    { at: NOW - 8_000, rev: 3, to: 'w', nodes: [0], attempt: 1 },
    { at: NOW - 5_000, rev: 4, to: 'e', nodes: [0], attempt: 0 },
  ];

  it('says what failed, and is QUEUED since its time came', () => {
    const scope = scopeOf(run('e', { flights: [flight({})], decisions }), [{ ...SLOW[0], id: 'a', retry }], {
      'engine/slow': full,
    });
    const result = {
      node: 0,
      attempt: 1,
      status: 'FAILED',
      error: { name: 'Broken', message: 'no' },
      startedAt: NOW - 9_000,
      endedAt: NOW - 8_000,
    } as const;
    const [story] = tellStories(scope.run, decisions);
    const [node] = scope.pipeline.nodes;
    if (!story || !node) throw new Error('no node');
    const view = viewNode(scope, node, { story, results: [result], showOutput: () => ({ output: null }) });
    expect(view).toMatchObject({ state: 'QUEUED', reason: 'EngineFull', since: new Date(NOW - 5_000).toISOString() });
    expect(view.message).toBe(
      `Attempt 1 failed (Broken: no); attempt 2 of 3 is ready. Waits for a slot of engine "slow": the only one is taken by run ${OTHER}.`,
    );
  });

  it('is a QUEUED item of a map, among its counts', () => {
    const map = { node: 0, total: 3, next: 2, succeeded: 1, failed: 0, list: 'l' };
    const items: Decision[] = [
      { at: NOW - 9_500, rev: 2, to: 'm', nodes: [0], attempt: 0 },
      { at: NOW - 9_000, rev: 2, to: 'r', nodes: [0], items: [0, 1], attempt: 1 },
      { at: NOW - 8_500, rev: 3, to: 'S', nodes: [0], items: [0], attempt: 1 },
      { at: NOW - 8_000, rev: 3, to: 'w', nodes: [0], items: [1], attempt: 1 },
    ];
    const record = run('m', { flights: [flight({ item: 1 })], maps: [map], decisions: items, limits: [IN_LINE] });
    const nodes = [{ id: 'a', engine: 'slow', map: { items: [1, 2, 3] }, retry, params: {} }];
    const scope = scopeOf(record, nodes, { 'engine/slow': full });
    const [mapStory] = tellStories(record, items);
    const [node] = scope.pipeline.nodes;
    if (!mapStory || !node) throw new Error('no map');
    const views = tellItems(map, mapStory, items).map((story, item) =>
      viewItem(scope, node, map, { item, story, mapStory, results: [], showOutput: () => ({ output: null }) }),
    );
    expect(views.map(({ state, reason }) => [state, reason])).toEqual([
      ['SUCCEEDED', 'Completed'],
      ['QUEUED', 'EngineFull'],
      ['PENDING', 'EngineFull'],
    ]);
    expect(views[1]?.since).toBe(new Date(NOW - 5_000).toISOString());
    expect(viewMap(scope, map, mapStory).counts).toEqual({ SUCCEEDED: 1, QUEUED: 1, PENDING: 1 });
    expect(explain(scope)).toMatchObject({
      reason: 'EngineFull',
      message: `1 of 3 items are over, 1 ready for another attempt, 1 not started. Waits for a slot of engine "slow": the only one is taken by run ${OTHER}.`,
      named: 'slow',
    });
  });
});

describe('a run that waits as a whole', () => {
  const turns = { concurrency: { maxActiveRuns: 1 } };
  const queued = run('p', {
    state: 'QUEUED',
    reason: 'ActiveRunsLimit',
    limits: [{ ...IN_LINE, limit: 'pipeline/p' }],
  });
  const limit: LimitRecord = { name: 'pipeline/p', rev: 1, slots: 1, holders: [holder(OTHER)] };
  const view = (scope: RunScope) => viewRun(scope, { input: {} });

  it('names who is active while it waits for its turn', () => {
    const ahead = { count: 1, hasMore: false };
    const scope = scopeOf(queued, SLOW, { 'pipeline/p': { record: limit, ahead } }, turns);
    expect(view(scope)).toMatchObject({
      reason: 'ActiveRunsLimit',
      message: `Waits for its turn: as many runs of "p" are active as may be (1): run ${OTHER}. 1 run of its pipeline waits before it.`,
    });
    expect(explain(scope)).toMatchObject({
      message: 'The run has not begun: it waits for its turn.',
      movedBy: 'The end of a run of "p" that is active.',
    });
    expect(limitsOfRunView(scope)).toEqual(['pipeline/p']);
  });

  it('says that its pipeline is paused, unless somebody started it since', () => {
    const paused = { 'pipeline/p': { record: { ...limit, pausedAt: NOW - 1_000 } } };
    expect(view(scopeOf(queued, SLOW, paused, turns))).toMatchObject({
      reason: 'PipelinePaused',
      message: 'Pipeline "p" has been paused since 2026-11-30T11:59:59.000Z; the run keeps its place.',
    });
    const waiting = { need: 1, priority: 0, since: NOW };
    const since = { ...queued, limits: [{ ...IN_LINE, limit: 'pipeline/p', waiting }] };
    expect(view(scopeOf(since, SLOW, paused, turns)).reason).toBe('ActiveRunsLimit');
  });

  it('has the reason of its nodes while nothing of it is under way', () => {
    const two = [...SLOW, { id: 'b', engine: 'slow', params: {} }];
    const scope = scopeOf(run('ee'), two, { 'engine/slow': { record: engine(1, [holder(OTHER)]) } });
    expect(view(scope)).toMatchObject({
      reason: 'EngineFull',
      message: `0 of 2 nodes are over: 2 QUEUED. Nothing of it is under way, and "a" and "b" are ready. Waits for a slot of engine "slow": the only one is taken by run ${OTHER}.`,
    });
    expect(limitsOfRunView(scope)).toEqual(['engine/slow']);
    const busy = scopeOf(run('re', { flights: [flight({ phase: 'running' })] }), two);
    expect(view(busy).reason).toBe('Executing');
  });

  it('still says that no engines are available to handle its pipeline', () => {
    expect(view(scopeOf(run('n'), SLOW, { 'engine/slow': {} }))).toMatchObject({
      reason: 'NoEngine',
      message: 'no engines available to handle pipeline: "a" needs "slow"',
    });
  });

  it('that is paused reads no limits', () => {
    const scope = scopeOf(run('e', { state: 'PAUSED', reason: 'RunPaused' }), SLOW);
    expect([limitsInTheWay(scope, scope.pipeline.nodes), limitsOfRunView(scope)]).toEqual([[], []]);
    expect(explain(scope)).toMatchObject({ reason: 'RunPaused', movedBy: 'Resume the run, or stop it.' });
  });

  it('that is being stopped counts the cleanup nodes that are left', () => {
    const stop = { kind: 'user', at: NOW } as const;
    const nodes = [{ id: 'tidy', cleanup: true, engine: 'slow', params: {} }];
    const scope = scopeOf(run('e', { state: 'STOPPING', reason: 'Stopping', stop }), nodes);
    expect(view(scope).message).toBe('Stopped; 1 cleanup node still has to end.');
  });
});
