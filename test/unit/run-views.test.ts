import { describe, expect, it } from 'vitest';
import type { NodeDefinition } from '#domain/definition.ts';
import { explainUnfinished, listUnfinished } from '#domain/explain.ts';
import { compilePipeline } from '#domain/graph.ts';
import { viewHistory } from '#domain/history-view.ts';
import { itemState, viewItem } from '#domain/item-view.ts';
import { mergeDecisions, tellItems, tellStories } from '#domain/node-story.ts';
import { viewNode } from '#domain/node-view.ts';
import type { Decision, Flight, MapState, RunRecord } from '#domain/run.ts';
import type { RunScope } from '#domain/run-scope.ts';
import { viewRun } from '#domain/run-view.ts';

const CREATED = Date.UTC(2026, 10, 30);

function runOf(nodes: string, more: Partial<RunRecord> = {}): RunRecord {
  return {
    schemaVersion: 1,
    id: 'a'.repeat(26),
    pipeline: 'p',
    revision: 'r',
    nonce: 'b'.repeat(8),
    secret: 's',
    rev: 1_000,
    state: 'RUNNING',
    reason: 'Executing',
    since: CREATED,
    createdAt: CREATED,
    trigger: { type: 'api' },
    tags: [],
    inputHash: 'h',
    nodes,
    machines: ['arn:aws:states:eu-central-1:111122223333:stateMachine:m'],
    flights: [],
    decisions: [],
    announced: { rev: 0, state: 'RUNNING' },
    ...more,
  };
}

function scopeOf(run: RunRecord, nodes: readonly NodeDefinition[]): RunScope {
  const pipeline = compilePipeline({ name: 'p', nodes }, 'r');
  return { pipeline, run, now: CREATED + 60_000, installation: 'millrace', engines: new Map() };
}

function decision(rev: number, to: Decision['to'], nodes: number[], more: Partial<Decision> = {}): Decision {
  return { at: CREATED + rev * 1_000, rev, to, nodes, attempt: to === 'run' ? 0 : 1, ...more };
}

const NODES = [{ id: 'a' }, { id: 'b', dependsOn: ['a'] }];

describe('mergeDecisions', () => {
  it('gives each decision once, in order, where a crash left it in both places', () => {
    const decisions = [decision(2, 'r', [0]), decision(2, 'run', [], { state: 'RUNNING' }), decision(3, 'S', [0])];
    const run = runOf('Sp', { decisions: decisions.slice(1) });
    const merged = mergeDecisions([...decisions.slice(0, 2), ...decisions.slice(0, 2)], run);
    expect(merged).toEqual(decisions);
  });

  it('keeps decisions of one commit apart that fail alike', () => {
    const error = { name: 'E', message: 'm' };
    const decisions = [decision(2, 'X', [0], { error }), decision(2, 'X', [1], { error })];
    expect(mergeDecisions([], runOf('XX', { decisions }))).toEqual(decisions);
  });
});

describe('mergeDecisions of a run that went on', () => {
  it('leaves out what was decided after the run was read', () => {
    const decisions = [decision(2, 'r', [0]), decision(3, 'S', [0])];
    expect(mergeDecisions(decisions, runOf('rp', { rev: 2 }))).toEqual(decisions.slice(0, 1));
  });

  it('keeps items of one map apart that fail alike', () => {
    const error = { name: 'E', message: 'm' };
    const decisions = [decision(2, 'X', [0], { error, items: [0] }), decision(2, 'X', [0], { error, items: [4] })];
    expect(mergeDecisions([], runOf('mp', { decisions }))).toEqual(decisions);
  });
});

describe('items of a map', () => {
  const nodes = [{ id: 'm', map: { items: '{% [] %}' } }];
  const map: MapState = { node: 0, total: 4, next: 3, succeeded: 0, failed: 1, list: 'l' };
  const stories = (run: RunRecord) => {
    const [mapStory] = tellStories(run, run.decisions);
    if (!mapStory) throw new Error('no map');
    return { mapStory, items: tellItems(map, mapStory, run.decisions) };
  };

  it('that were taken back before they began have no attempt', () => {
    const decisions = [
      decision(2, 'm', [0], { attempt: 0 }),
      decision(2, 'r', [0], { items: [0, 1] }),
      decision(2, 'A', [0], { items: [0, 1] }),
    ];
    const { items } = stories(runOf('A', { decisions, maps: [map] }));
    expect(items.map(({ code, attempts }) => [code, attempts])).toEqual([
      ['A', []],
      ['A', []],
      [undefined, []],
      [undefined, []],
    ]);
  });

  it('that were given up between two attempts keep how their attempt ended', () => {
    const decisions = [
      decision(2, 'm', [0], { attempt: 0 }),
      decision(3, 'r', [0], { items: [0, 1] }),
      decision(4, 'w', [0], { items: [0, 1] }),
      decision(5, 'F', [0], { items: [0] }),
      decision(6, 'A', [0], { items: [1] }),
    ];
    const { items } = stories(runOf('A', { decisions, maps: [map] }));
    const end = { at: CREATED + 4_000, to: 'w' };
    for (const item of items.slice(0, 2)) expect(item.attempts).toMatchObject([{ attempt: 1, end }]);
    expect(items.slice(0, 2).map(({ code, overAt }) => [code, overAt])).toEqual([
      ['F', CREATED + 5_000],
      ['A', CREATED + 6_000],
    ]);
  });

  it('that were never started are ABORTED for the reason for which their map ended', () => {
    const decisions = [decision(2, 'm', [0], { attempt: 0 }), decision(9, 'd', [0], { attempt: 0 })];
    const run = runOf('d', { decisions, maps: [map], state: 'TIMED_OUT' });
    const scope = scopeOf(run, nodes);
    const { mapStory, items } = stories(run);
    const story = items[3];
    const node = scope.pipeline.nodes[0];
    if (!story || !node) throw new Error('no item');
    const sources = { item: 3, story, mapStory, results: [], showOutput: () => ({ output: null }) };
    expect(itemState(scope, map, 3, story)).toBe('ABORTED');
    expect(viewItem(scope, node, map, sources)).toEqual({
      index: 3,
      state: 'ABORTED',
      reason: 'TimedOut',
      message: 'Never started: its map was over before, ABORTED.',
      since: new Date(CREATED + 9_000).toISOString(),
      attempt: 0,
    });
  });
});

describe('views of a map of 10,000 items', () => {
  const TOTAL = 10_000;
  const nodes = [
    { id: 'm', map: { items: '{% [] %}', maxConcurrency: 500 } },
    { id: 'z', dependsOn: ['m'] },
  ];
  const ended = Array.from({ length: TOTAL - 500 }, (_, at) => at);
  const flights: Flight[] = Array.from({ length: 500 }, (_, at) => ({
    node: 0,
    item: TOTAL - 500 + at,
    attempt: 1,
    phase: 'running',
    startedAt: CREATED,
    since: CREATED,
    pollAt: CREATED,
    polls: 0,
    machine: 0,
    confirmed: true,
  }));
  const decisions = [
    decision(2, 'm', [0], { attempt: 0 }),
    ...ended.flatMap((item) => [
      decision(3 + item, 'r', [0], { items: [item] }),
      decision(3 + item, 'S', [0], { items: [item] }),
    ]),
    decision(TOTAL, 'r', [0], { items: flights.map(({ item }) => item as number) }),
  ];
  const map: MapState = { node: 0, total: TOTAL, next: TOTAL, succeeded: ended.length, failed: 0, list: 'l' };
  const run = runOf('mp', { rev: TOTAL, decisions, maps: [map], flights });

  it('take time linear in its items', () => {
    const scope = scopeOf(run, nodes);
    const begun = performance.now();
    const merged = mergeDecisions([], run);
    const stories = tellStories(run, merged);
    const [mapStory] = stories;
    const node = scope.pipeline.nodes[0];
    if (!mapStory || !node) throw new Error('no map');
    const showOutput = () => ({ output: null });
    const view = viewNode(scope, node, { story: mapStory, results: [], showOutput });
    expect(view).toMatchObject({ progress: 0.95, map: { total: TOTAL, counts: { SUCCEEDED: 9_500, RUNNING: 500 } } });
    const items = tellItems(map, mapStory, merged);
    const states = items.map(
      (story, item) => viewItem(scope, node, map, { item, story, mapStory, results: [], showOutput }).state,
    );
    expect([states[0], states.at(-1)]).toEqual(['SUCCEEDED', 'RUNNING']);
    expect(viewRun(scope, { input: {} }).progress).toBe(0.475);
    expect(listUnfinished(scope).map(({ node: { id } }) => id)).toEqual(['m', 'z']);
    expect([...viewHistory(scope, merged, false)]).toHaveLength(2);
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});

describe('viewNode', () => {
  it('ends a node that was stopped between two attempts when it was stopped', () => {
    const decisions = [decision(2, 'r', [0]), decision(3, 'w', [0]), decision(9, 'A', [0], { attempt: 0 })];
    const run = runOf('Ap', { decisions, state: 'ABORTED', stop: { kind: 'user', at: CREATED + 9_000, by: 'ada' } });
    const scope = scopeOf(run, NODES);
    const [story] = tellStories(run, decisions);
    const result = {
      node: 0,
      attempt: 1,
      status: 'FAILED' as const,
      startedAt: CREATED + 2_100,
      endedAt: CREATED + 2_900,
    };
    const node = scope.pipeline.nodes[0];
    if (!node || !story) throw new Error('no node');
    const view = viewNode(scope, node, { story, results: [result], showOutput: () => ({ output: null }) });
    expect(view).toMatchObject({
      state: 'ABORTED',
      attempt: 1,
      startedAt: new Date(CREATED + 2_100).toISOString(),
      endedAt: new Date(CREATED + 9_000).toISOString(),
      message: 'Stopped together with its run, by ada.',
    });
    expect(view.error).toBeUndefined();
  });
});

describe('viewRun', () => {
  it('counts each state that occurs, and takes the mean of the progress', () => {
    const view = viewRun(scopeOf(runOf('Sp'), NODES), { input: {} });
    expect(view).toMatchObject({ counts: { SUCCEEDED: 1, PENDING: 1 }, progress: 0.5 });
    expect(Object.keys(view.counts)).toHaveLength(2);
    expect(view.message).toBe('1 of 2 nodes are over: 1 SUCCEEDED, 1 PENDING.');
  });

  it('says of a run in each state why it stands so', () => {
    const bad = { firstBad: { node: 0, error: { name: 'E', message: 'm' } } };
    const messages = [
      runOf('pp', { state: 'QUEUED' }),
      runOf('rp', bad),
      runOf('rp', { state: 'STOPPING', stop: { kind: 'failFast', at: CREATED } }),
      runOf('SS', { state: 'SUCCEEDED' }),
      runOf('FU', { state: 'FAILED', ...bad }),
      runOf('SS', { state: 'FAILED', error: { name: 'Millrace.ExpressionError', message: 'output' } }),
      runOf('AA', { state: 'ABORTED', stop: { kind: 'user', at: CREATED } }),
      runOf('dd', { state: 'TIMED_OUT' }),
    ].map((run) => viewRun(scopeOf(run, NODES), { input: {} }).message);
    expect(messages).toEqual([
      'Waits for the scheduler to take it up.',
      '0 of 2 nodes are over: 1 RUNNING, 1 PENDING. Node "a" failed: E: m',
      'Stopped because a node failed and the pipeline fails fast; 0 executions still have to end.',
      'All 2 nodes are over: 2 SUCCEEDED.',
      'Node "a" failed: E: m',
      'The run itself failed: Millrace.ExpressionError: output',
      'Stopped: 2 ABORTED.',
      'Its time was over.',
    ]);
  });
});

describe('views of a wide run', () => {
  it('take time linear in nodes and edges', () => {
    const hub = Array.from({ length: 5_000 }, (_, at) => ({ id: `n${at}` }));
    const below = Array.from({ length: 5_000 }, (_, at) => ({
      id: `m${at}`,
      dependsOn: [`n${at}`, `n${(at + 1) % 5_000}`],
    }));
    const decisions = [
      decision(
        2,
        'r',
        hub.map((_, at) => at),
      ),
    ];
    const run = runOf('r'.repeat(5_000) + 'p'.repeat(5_000), { decisions });
    const scope = scopeOf(run, [...hub, ...below]);
    const begun = performance.now();
    const stories = tellStories(run, decisions);
    for (const { node } of listUnfinished(scope)) {
      const story = stories[node.index];
      if (story) expect(explainUnfinished(scope, node, { story }).movedBy).not.toBe('');
    }
    expect([...viewHistory(scope, decisions)]).toHaveLength(5_001);
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});
