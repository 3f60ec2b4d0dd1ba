/** Many executions that are due for a look at once, and lists that say which of them run, late or not at all. */
import { describe, expect, it } from 'vitest';
import { chooser } from '#testing/chooser.ts';
import type { Faults, OperationFault } from '#testing/faults.ts';
import { type Scenario, World } from './world.ts';

const WIDTH = 40;
const MINUTE = 60_000;

/** Nodes side by side; each takes a while of its own, and nobody tells of its end. */
function wide(minutes: (place: number) => number): Scenario {
  const nodes = Array.from({ length: WIDTH }, (_, place) => ({ id: `${place}`, params: { function: 'f' } }));
  return {
    name: 'wide',
    definition: { name: 'wide', nodes },
    script: (id) => ({ durationMs: minutes(Number(id)) * MINUTE, end: { status: 'SUCCEEDED', output: '{}' } }),
  };
}

async function play(scenario: Scenario, faults: Faults): Promise<World> {
  const world = new World(scenario, { drop: true, ...faults });
  await world.play(200);
  return world;
}

function countOf(world: World, call: string): number {
  return world.trace.operations.filter((operation) => operation.includes(`executions.${call}`)).length;
}

function outcomeOf(world: World): object {
  const { state, nodes } = world.runs.latest(world.run?.id ?? '');
  return { state, nodes, starts: world.trace.starts.length };
}

const FAULTS: readonly OperationFault[] = [
  { kind: 'kill', when: 'before' },
  { kind: 'kill', when: 'after' },
  { kind: 'fail', when: 'before' },
  { kind: 'freeze', when: 'after', forMs: 2 * MINUTE },
];

const ALL_SUCCEEDED = { state: 'SUCCEEDED', nodes: 'S'.repeat(WIDTH), starts: WIDTH };

describe('many executions that are due for a look', () => {
  it('are listed while they run, and described once they do no longer', async () => {
    const world = await play(
      wide(() => 20),
      {},
    );
    expect(outcomeOf(world)).toEqual(ALL_SUCCEEDED);
    expect(countOf(world, 'describe')).toBe(WIDTH);
    expect(countOf(world, 'listRunning')).toBeLessThanOrEqual(6);
  });

  it('come to the same at whatever list a pass dies, or gets no answer', async () => {
    const scenario = wide((place) => 1 + (place % 7));
    const sound = await play(scenario, {});
    const lists = sound.trace.operations.flatMap((operation, at) => (operation.includes('listRunning') ? [at] : []));
    expect(lists.length).toBeGreaterThan(2);
    for (const at of lists) {
      for (const fault of FAULTS) {
        const world = await play(scenario, { at: new Map([[at, fault]]) });
        expect(world.trace.operations[at]).toMatch(/listRunning \((kill|fail|freeze)/);
        expect(outcomeOf(world), `${fault.kind} at ${at}`).toEqual(ALL_SUCCEEDED);
      }
    }
  });

  it('come to the same with lists and looks that lag, and clocks that differ', async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const choose = chooser(seed * 7_919);
      const faults = { choose, staleMs: 90_000, skewMs: 999, isIndexStale: choose(2) === 0, lateMs: choose(2) * 3_000 };
      const world = await play(
        wide((place) => 0.5 + (place % 9)),
        faults,
      );
      expect(outcomeOf(world), `seed ${seed}`).toEqual(ALL_SUCCEEDED);
      expect(countOf(world, 'listRunning')).toBeGreaterThan(0);
    }
  });

  it('are found by looks once Step Functions can be reached again', async () => {
    const world = await play(
      wide(() => 3),
      { outage: { fromMs: 0, toMs: 90_000 } },
    );
    expect(outcomeOf(world)).toEqual(ALL_SUCCEEDED);
  });
});
