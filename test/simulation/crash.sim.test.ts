/** Small runs whose functions freeze, and whose messages come late, often or never; crashes are in `exhaustive.test.ts`. */
import { describe, expect, it } from 'vitest';
import { chooser } from '#testing/chooser.ts';
import type { OperationFault } from '#testing/faults.ts';
import { SCENARIOS } from './scenarios.ts';
import { type Faults, type Scenario, World } from './world.ts';

async function play(
  scenario: Scenario & { expected?: { state: string; nodes: string } },
  faults: Faults,
): Promise<World> {
  const world = new World(scenario, faults);
  await world.play();
  const run = await world.runs.readRun(world.run?.id ?? '');
  // A user's stop that is itself delayed may find more done: then only the invariants say what is right.
  const isDelayedStop =
    scenario.stopAtMs !== undefined && [...(faults.at?.values() ?? [])].some((fault) => fault.kind === 'freeze');
  if (scenario.expected && !isDelayedStop) {
    expect({ state: run?.state, nodes: run?.nodes }, JSON.stringify([...(faults.at ?? [])])).toEqual(scenario.expected);
  }
  return world;
}

function kill(when: 'before' | 'after'): OperationFault {
  return { kind: 'kill', when };
}

/** How many operations a scenario takes when nothing goes wrong, with some more for what faults add. */
async function countOperations(scenario: Scenario, faults: Faults): Promise<number> {
  return (await play(scenario, faults)).trace.operations.length + 10;
}

describe('a run whose functions freeze', () => {
  for (const scenario of SCENARIOS) {
    describe(scenario.name, () => {
      it('ends right with nothing going wrong', async () => {
        await play(scenario, {});
      });

      it('T31 ends right by ticks alone', async () => {
        await play(scenario, { drop: true });
      });

      it('ends right with every message delivered five times', async () => {
        await play(scenario, { copies: 5 });
      });

      it('ends right when a pass freezes at every await and wakes after its time limit', async () => {
        const operations = await countOperations(scenario, {});
        for (let at = 0; at < operations; at++) {
          for (const when of ['before', 'after'] as const) {
            for (const forMs of [5_000, 29_000, 31_000, 65_000, 200_000]) {
              const freeze = new Map([[at, { kind: 'freeze', when, forMs } as const]]);
              await play(scenario, { at: freeze });
              await play(scenario, { at: freeze, drop: true });
              await play(scenario, { at: freeze, drop: true, tickMs: 5_000 });
            }
          }
        }
      });

      it('leaves nothing running when a call of StartExecution takes effect long after it was made', async () => {
        const operations = await countOperations(scenario, {});
        for (let at = 0; at < operations; at++) {
          const freeze = new Map([[at, { kind: 'freeze', when: 'before', forMs: 200_000 } as const]]);
          await play(scenario, { at: freeze, freezeStarts: true });
          await play(scenario, { at: freeze, freezeStarts: true, tickMs: 5_000 });
        }
      });

      it('ends right with three passes at once in any order, copies, crashes and freezes', async () => {
        const operations = await countOperations(scenario, {});
        for (let seed = 1; seed <= 300; seed++) {
          const choose = chooser(seed * 7919);
          const faults = new Map<number, OperationFault>();
          for (let kills = choose(4); kills > 0; kills--)
            faults.set(choose(operations * 2), kill(choose(2) === 0 ? 'before' : 'after'));
          const forMs = choose(100_000);
          if (choose(2) === 0) faults.set(choose(operations * 2), { kind: 'freeze', when: 'before', forMs });
          await play(scenario, { choose, at: faults, copies: 1 + choose(3) });
        }
      });
    });
  }
});
