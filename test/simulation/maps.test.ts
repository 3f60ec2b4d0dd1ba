/** Maps, branches and limits of waiting, played by the real pass and tick in a simulated world. */
import { describe, expect, it } from 'vitest';
import type { MapDefinition, NodeDefinition } from '#domain/definition.ts';
import { statusOf } from '#domain/node-status.ts';
import { readMapOutput } from '#scheduler/map-output.ts';
import { type Faults, type Scenario, type Script, World } from './world.ts';

function node(id: string, dependsOn: string[] = [], more: Partial<NodeDefinition> = {}): NodeDefinition {
  return { id, dependsOn, params: { function: 'f', payload: {} }, ...more };
}

function ok(output: unknown = {}, durationMs = 1_000): Script {
  return { durationMs, end: { status: 'SUCCEEDED', output: JSON.stringify(output) } };
}

function bad(durationMs = 1_000): Script {
  return { durationMs, end: { status: 'FAILED', error: { name: 'Broken', message: 'told so' } } };
}

function mapScenario(map: MapDefinition, script: Scenario['script'], more: Partial<NodeDefinition> = {}): Scenario {
  const nodes = [node('gen'), node('m', ['gen'], { map, ...more }), node('z', ['m'])];
  return { name: 'map', definition: { name: 'map', nodes }, ...(script && { script }) };
}

async function play(scenario: Scenario, faults: Faults = {}) {
  const world = new World(scenario, faults);
  await world.play(400);
  const run = await world.runs.readRun(world.run?.id ?? '');
  if (!run) throw new Error('the run is gone');
  const state = (id: string) => statusOf(run.nodes.charCodeAt(world.pipeline.indexOf.get(id) as number)).state;
  const map = run.maps?.[0];
  const output = map && (JSON.parse(await readMapOutput(world.runs, run, map)) as unknown);
  const itemsStarted = world.trace.starts.flatMap(({ name }) => /_(\d+)-/.exec(name)?.[1] ?? []).map(Number);
  return { world, run, map, output, itemsStarted, m: state('m'), z: state('z') };
}

const three = { items: ['a', 'b', 'c'] };

describe('a map', () => {
  it('starts every item once and gives their outputs in the order of the list', async () => {
    const { run, m, z, output, itemsStarted } = await play(
      mapScenario(three, (id, _, item) => (id === 'm' ? ok(`out ${item}`, 3_000 - 1_000 * (item ?? 0)) : undefined)),
    );
    expect([run.state, m, z]).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED']);
    expect(output).toEqual(['out 0', 'out 1', 'out 2']);
    expect(itemsStarted.sort()).toEqual([0, 1, 2]);
  });

  it('C56 succeeds with an empty list without any execution, also in a row and as the last node', async () => {
    const empty = { items: [] };
    const nodes = [node('m', [], { map: empty }), node('m2', ['m'], { map: empty }), node('z', ['m2'], { map: empty })];
    const { world, run, output } = await play({ name: 'empty', definition: { name: 'empty', nodes } });
    expect([run.state, run.nodes, output]).toEqual(['SUCCEEDED', 'SSS', []]);
    expect([world.trace.starts, run.rev <= 3]).toEqual([[], true]);
  });

  it('C59 stops after a failure that is not tolerated, and names the item', async () => {
    const { run, m, z, map, itemsStarted } = await play(
      mapScenario({ items: [1, 2, 3, 4], maxConcurrency: 1 }, (id, _, item) =>
        id === 'm' && item === 2 ? bad() : ok(),
      ),
    );
    expect([run.state, m, z]).toEqual(['FAILED', 'FAILED', 'UPSTREAM_FAILED']);
    expect([itemsStarted, map?.succeeded, map?.failed]).toEqual([[0, 1, 2], 2, 1]);
    expect(run.firstBad?.error.message).toContain('item 2: Broken: told so');
  });

  it('C23 is not decided before its last running item has ended', async () => {
    const scenario = mapScenario(three, (id, _, item) => {
      if (id !== 'm') return undefined;
      return item === 1 ? bad() : ok({}, item === 2 ? 60_000 : 1_000);
    });
    const { world, m } = await play(scenario);
    expect(m).toBe('FAILED');
    const items = [...world.executions.started.values()].filter(({ name }) => /_\d+-/.test(name));
    expect(items.map(({ status }) => status)).toEqual(['SUCCEEDED', 'FAILED', 'SUCCEEDED']);
  });

  it('leaves the error of a tolerated failure at its place', async () => {
    const { m, output } = await play(
      mapScenario({ ...three, toleratedFailureCount: 1 }, (id, _, item) =>
        id === 'm' && item === 1 ? bad() : ok(item ?? 'gen'),
      ),
    );
    expect([m, output]).toEqual(['SUCCEEDED', [0, { error: { name: 'Broken', message: 'told so' } }, 2]]);
  });

  it('tells of each tolerated failure what became of it, not what its execution said too late', async () => {
    const hangs: Script = { durationMs: 10 ** 9, end: { status: 'SUCCEEDED', output: '"too late"' } };
    const aborted: Script = { durationMs: 1_000, end: { status: 'ABORTED' } };
    const { output } = await play(
      mapScenario(
        { items: ['times out', 'is stopped from outside'], toleratedFailureCount: 2 },
        (id, _, item) => (id !== 'm' ? undefined : item === 0 ? hangs : aborted),
        { timeoutSeconds: 5 },
      ),
    );
    const [first, second] = output as { error: { name: string } }[];
    expect([first?.error.name, second?.error.name]).toEqual(['States.Timeout', 'Millrace.AbortedOutside']);
  });

  it('tolerates a share of its items, rounded down', async () => {
    const items = Array.from({ length: 19 }, (_, at) => at);
    const fails = (count: number) => (id: string, _: number, item?: number) =>
      id === 'm' && (item ?? 0) < count ? bad() : ok();
    const tenth = { items, toleratedFailurePercentage: 10 };
    expect((await play(mapScenario(tenth, fails(1)))).m).toBe('SUCCEEDED');
    expect((await play(mapScenario(tenth, fails(2)))).m).toBe('FAILED');
  });

  it('tries an item again without touching the others', async () => {
    const { m, itemsStarted } = await play(
      mapScenario(three, (id, attempt, item) => (id === 'm' && item === 1 && attempt < 3 ? bad() : ok()), {
        retry: { maxAttempts: 3, intervalSeconds: 1 },
      }),
    );
    expect([m, itemsStarted.sort()]).toEqual(['SUCCEEDED', [0, 1, 1, 1, 2]]);
  });

  it('never has more items under way than it may', async () => {
    const items = Array.from({ length: 30 }, (_, at) => at);
    const { world } = await play(mapScenario({ items, maxConcurrency: 4 }, () => ok({}, 5_000)));
    const executions = [...world.executions.started.values()];
    const underWay = (at: number) =>
      executions.filter(({ startedAt, endedAt = 0 }) => startedAt <= at && at < endedAt).length;
    const most = Math.max(...executions.map(({ startedAt }) => underWay(startedAt)));
    expect(most).toBe(4);
  });

  it('stops with its run: items under way are stopped, the others never start', async () => {
    const scenario = mapScenario({ items: [1, 2, 3, 4], maxConcurrency: 2 }, (id) =>
      id === 'm' ? ok({}, 600_000) : undefined,
    );
    const { run, m, itemsStarted, world } = await play({ ...scenario, stopAtMs: 10_000 });
    expect([run.state, m, itemsStarted]).toEqual(['ABORTED', 'ABORTED', [0, 1]]);
    expect([...world.executions.started.values()].filter(({ status }) => status === 'RUNNING')).toEqual([]);
  });

  it('C109 of a thousand items runs to its end, each item once, in a run that stays small', {
    timeout: 60_000,
  }, async () => {
    const items = Array.from({ length: 1_000 }, (_, at) => at);
    const { run, m, itemsStarted, world } = await play(mapScenario({ items, maxConcurrency: 1_000 }, () => ok()));
    expect([run.state, m, new Set(itemsStarted).size, itemsStarted.length]).toEqual([
      'SUCCEEDED',
      'SUCCEEDED',
      1_000,
      1_000,
    ]);
    expect(world.runs.text(run.id)?.body.length).toBeLessThan(20_000);
  });
});

describe('a map whose functions crash', () => {
  const scenario = mapScenario(
    { items: [1, 2, 3, 4], maxConcurrency: 2, toleratedFailureCount: 1 },
    (id, attempt, item) => (id === 'm' && item === 1 && attempt < 3 ? bad() : ok(item ?? 0)),
    { retry: { maxAttempts: 2, intervalSeconds: 1 } },
  );
  const expected = [0, { error: { name: 'Broken', message: 'told so' } }, 2, 3];

  it('C49 drops no item, at whatever await it dies', async () => {
    for (const faults of [{}, { drop: true }] as const) {
      const length = (await play(scenario, faults)).world.trace.operations.length;
      for (let at = 0; at < length + 5; at++) {
        for (const when of ['before', 'after'] as const) {
          const { m, output } = await play(scenario, { ...faults, at: new Map([[at, { kind: 'kill', when }]]) });
          expect([m, output], `${when} ${at}`).toEqual(['SUCCEEDED', expected]);
        }
      }
    }
  });

  it('stopped in the middle leaves nothing behind, at whatever await it dies', async () => {
    const slow = { ...scenario, script: () => ok({}, 30_000), stopAtMs: 35_000 };
    const length = (await play(slow)).world.trace.operations.length;
    for (let at = 0; at < length + 5; at++) {
      for (const when of ['before', 'after'] as const) {
        const { run } = await play(slow, { at: new Map([[at, { kind: 'kill', when }]]) });
        expect(run.state).toBe('ABORTED');
      }
    }
  });
});

describe('a map whose run is paused', () => {
  const items = Array.from({ length: 6 }, (_, at) => at);
  const scenario = mapScenario(
    { items, maxConcurrency: 2 },
    (id, attempt, item) =>
      id === 'm' && item === 1 && attempt < 2 ? bad() : ok(item ?? 0, id === 'm' ? 5_000 : 1_000),
    { retry: { maxAttempts: 2, intervalSeconds: 1 } },
  );
  const paused = { ...scenario, pauses: [{ fromMs: 7_500, toMs: 200_000 }] };

  it('starts no item and no further attempt until it is resumed, and finishes those under way', async () => {
    const { m, output, world } = await play(paused);
    expect([m, output]).toEqual(['SUCCEEDED', items]);
    const at = world.trace.starts.map((start) => start.at - world.beganAt);
    expect(at.filter((time) => time > 7_500 && time < 200_000)).toEqual([]);
    expect(at.filter((time) => time >= 200_000).length).toBeGreaterThan(0);
  });

  it('drops no item and starts none twice, at whatever await it dies', async () => {
    for (const faults of [{}, { drop: true }] as const) {
      const length = (await play(paused, faults)).world.trace.operations.length;
      for (let at = 0; at < length + 5; at++) {
        for (const when of ['before', 'after'] as const) {
          const { m, output } = await play(paused, { ...faults, at: new Map([[at, { kind: 'kill', when }]]) });
          expect([m, output], `${when} ${at}`).toEqual(['SUCCEEDED', items]);
        }
      }
    }
  });

  it('stopped while it is paused leaves nothing behind, at whatever await it dies', async () => {
    const stopped = { ...paused, stopAtMs: 60_000 };
    const length = (await play(stopped)).world.trace.operations.length;
    for (let at = 0; at < length + 5; at++) {
      for (const when of ['before', 'after'] as const) {
        const { run } = await play(stopped, { at: new Map([[at, { kind: 'kill', when }]]) });
        expect(run.state).toBe('ABORTED');
      }
    }
  });
});

describe('queueTimeoutSeconds', () => {
  it('does not count the time that its run is paused', async () => {
    const nodes = [node('a', [], { engine: 'gpu', queueTimeoutSeconds: 60 })];
    const pauses = [{ fromMs: 30_000, toMs: 90_000 }];
    const { run } = await play({ name: 'queue', definition: { name: 'queue', nodes }, pauses });
    expect([run.state, ((run.endedAt ?? 0) - run.createdAt) / 1000]).toEqual(['FAILED', 150]);
  });

  it('C97 ends a node that no engine takes in time, and tells its followers', async () => {
    const nodes = [node('a', [], { engine: 'gpu', queueTimeoutSeconds: 60 }), node('b', ['a'])];
    const { run } = await play({ name: 'queue', definition: { name: 'queue', nodes } });
    expect([run.state, run.nodes]).toEqual(['FAILED', 'QU']);
    expect(((run.endedAt ?? 0) - run.createdAt) / 1000).toBe(60);
    expect(run.firstBad?.error).toEqual({ name: 'Millrace.QueueTimeout', message: 'not started within 60 s' });
  });
});
