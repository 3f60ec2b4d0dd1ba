/** Runs started again, played by the real start, pass and tick in a simulated world. */
import { describe, expect, it } from 'vitest';
import type { NodeDefinition } from '#domain/definition.ts';
import type { RunRecord } from '#domain/run.ts';
import { readMapOutput } from '#scheduler/map-output.ts';
import type { RerunRequest } from '#scheduler/rerun-run.ts';
import { chooser } from '#testing/chooser.ts';
import type { OperationFault } from '#testing/faults.ts';
import { type Faults, type Scenario, type Script, World } from './world.ts';

function node(id: string, dependsOn: string[] = [], more: Partial<NodeDefinition> = {}): NodeDefinition {
  return { id, dependsOn, params: { function: 'f', payload: {} }, ...more };
}

const ok = (output: unknown = {}): Script => ({
  durationMs: 1_000,
  end: { status: 'SUCCEEDED', output: JSON.stringify(output) },
});
const bad: Script = { durationMs: 1_000, end: { status: 'FAILED', error: { name: 'Broken', message: 'told so' } } };

const map = { items: ['a', 'b', 'c', 'd', 'e'], toleratedFailureCount: 0 };
const NODES = [
  node('gen'),
  node('m', ['gen'], { map }),
  node('side', ['gen']),
  node('none', [], { map: { items: [] } }),
  node('j', ['m', 'side', 'none']),
  node('alarm', ['m'], { trigger: 'one_failed' }),
];

/** In the first run, two items fail; whoever runs after it finds them repaired. */
function script(id: string, _attempt: number, item?: number, _payload?: unknown, run?: RunRecord): Script {
  if (id === 'm' && (item === 1 || item === 3) && run?.trigger.type !== 'rerun') return bad;
  return ok(item === undefined ? id : `${id}${item}`);
}

function scenario(from: RerunRequest['from'], more: Partial<Scenario> = {}): Scenario {
  const users = [[{ atMs: 30_000, kind: 'rerun' as const, from, key: 'again' }]];
  return { name: 'rerun', definition: { name: 'rerun', nodes: NODES }, script, users, ...more };
}

async function play(what: Scenario, faults: Faults = {}) {
  const world = new World(what, faults);
  await world.play(400);
  const again = world.runs.all().find(({ trigger }) => trigger.type === 'rerun');
  const letters = Object.fromEntries(world.pipeline.nodes.map(({ id, index }) => [id, again?.nodes[index]]));
  const begun = world.trace.starts
    .filter(({ name }) => again && name.includes(again.id))
    .map(({ name }) => /-(\d+(?:_\d+)?)-\d+$/.exec(name)?.[1] ?? '')
    .map((place) => place.replace(/^\d+/, (at) => world.pipeline.nodes[Number(at)]?.id ?? ''));
  const state = again?.maps?.find(({ node: at }) => at === world.pipeline.indexOf.get('m'));
  const output = again && state && JSON.parse(await readMapOutput(world.runs, again, state));
  return { world, again, letters, begun: begun.sort(), output };
}

const ITEMS = ['m0', 'm1', 'm2', 'm3', 'm4'];

function checkEnd({ again, letters, begun, output }: Awaited<ReturnType<typeof play>>, what: string): void {
  expect(again?.state, what).toBe('SUCCEEDED');
  expect(letters, what).toEqual({ gen: 'S', m: 'S', side: 'S', none: 'S', j: 'S', alarm: 'k' });
  expect(begun, what).toEqual(['j', 'm_1', 'm_3']);
  expect(output, what).toEqual(ITEMS);
}

describe('a run that is started again from what failed', () => {
  it('C49 runs the items that failed, and takes the others over', async () => {
    checkEnd(await play(scenario('failed')), 'nothing goes wrong');
    checkEnd(await play(scenario('failed'), { drop: true }), 'ticks alone');
    checkEnd(await play(scenario('failed'), { copies: 5 }), 'every message five times');
  });

  it('C49 runs all items where the first run was stopped before it had any', async () => {
    const slow = (id: string, ...rest: [number, number?, unknown?, RunRecord?]) =>
      id === 'gen' && rest[3]?.trigger.type !== 'rerun' ? { ...ok(), durationMs: 20_000 } : ok(id);
    const { again, begun } = await play(scenario('failed', { script: slow, stopAtMs: 5_000 }));
    expect(again?.state).toBe('SUCCEEDED');
    expect(begun).toEqual(['gen', 'j', 'm_0', 'm_1', 'm_2', 'm_3', 'm_4', 'side']);
  });

  it('ends right after a crash at every await of the start and of the passes', async () => {
    const { operations } = (await play(scenario('failed'))).world.trace;
    const first = operations.findIndex((line) => line.includes('rerun'));
    expect(first).toBeGreaterThan(0);
    for (let at = first; at < operations.length; at++) {
      for (const when of ['before', 'after'] as const) {
        const kill: OperationFault = { kind: 'kill', when };
        checkEnd(await play(scenario('failed'), { at: new Map([[at, kill]]) }), `killed ${when} ${operations[at]}`);
      }
    }
  });

  it('ends right when a start freezes at every await, and another one was quicker', async () => {
    const { operations } = (await play(scenario('failed'))).world.trace;
    const first = operations.findIndex((line) => line.includes('rerun'));
    const last = operations.findLastIndex((line) => line.includes('rerun'));
    for (let at = first; at <= last; at++) {
      for (const forMs of [5_000, 65_000]) {
        const freeze: OperationFault = { kind: 'freeze', when: 'before', forMs };
        checkEnd(await play(scenario('failed'), { at: new Map([[at, freeze]]) }), `frozen at ${operations[at]}`);
      }
    }
  });

  it('ends right in any order, with crashes', async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const choose = chooser(seed * 104_729);
      const faults = new Map<number, OperationFault>();
      for (let kills = choose(4); kills > 0; kills--) {
        faults.set(choose(400), { kind: 'kill', when: choose(2) === 0 ? 'before' : 'after' });
      }
      checkEnd(await play(scenario('failed'), { choose, at: faults, copies: 1 + choose(2) }), `seed ${seed}`);
    }
  });
});

describe('a run that is started again in another way', () => {
  it('runs everything', async () => {
    const { again, begun } = await play(scenario('all'));
    expect(again?.state).toBe('SUCCEEDED');
    expect(begun).toEqual(['gen', 'j', 'm_0', 'm_1', 'm_2', 'm_3', 'm_4', 'side']);
  });

  it('runs what is named, what is below it, and what it needs', async () => {
    const { again, begun, letters } = await play(scenario(['side']));
    expect([again?.state, begun]).toEqual(['SUCCEEDED', ['j', 'm_1', 'm_3', 'side']]);
    expect(letters['alarm']).toBe('k');
  });

  it('decides marked nodes by hand', async () => {
    const marks = new Map([['m', { state: 'SUCCEEDED' as const, output: ['by hand'] }]]);
    const users = [[{ atMs: 30_000, kind: 'rerun' as const, from: 'failed' as const, key: 'again', marks }]];
    const { again, begun, letters } = await play(scenario('failed', { users }));
    expect([again?.state, begun, letters['m']]).toEqual(['SUCCEEDED', ['j'], 'M']);
  });
});
