import { describe, expect, it } from 'vitest';
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
  const isDelayedStop = scenario.stopAtMs !== undefined && faults.freeze !== undefined;
  if (scenario.expected && !isDelayedStop) {
    expect({ state: run?.state, nodes: run?.nodes }, JSON.stringify([...(faults.kills ?? [])])).toEqual(
      scenario.expected,
    );
  }
  return world;
}

/** Every single crash point of a run: before and after each operation took effect. */
async function* singleKills(scenario: Scenario, faults: Faults) {
  for (let at = 0; ; at++) {
    let reached = false;
    for (const when of ['before', 'after'] as const) {
      const world = await play(scenario, { ...faults, kills: new Map([[at, when]]) });
      reached = world.trace.operations.length > at;
      yield { at, when, world };
    }
    if (!reached) return;
  }
}

/** How many operations a scenario takes when nothing goes wrong, with some more for what faults add. */
async function countOperations(scenario: Scenario, faults: Faults): Promise<number> {
  return (await play(scenario, faults)).trace.operations.length + 10;
}

/** A generator of choices that a seed alone decides (mulberry32). */
function chooser(seed: number): (choices: number) => number {
  let state = seed;
  return (choices) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * choices) | 0;
  };
}

describe('a run whose functions crash', () => {
  for (const scenario of SCENARIOS) {
    describe(scenario.name, () => {
      it('ends right with nothing going wrong', async () => {
        await play(scenario, {});
      });

      it('ends right by ticks alone', async () => {
        await play(scenario, { drop: true });
      });

      it('ends right with every message delivered five times', async () => {
        await play(scenario, { copies: 5 });
      });

      it('ends right after a crash at every await', async () => {
        for await (const { world } of singleKills(scenario, {})) expect(world.run).toBeDefined();
      });

      it('ends right after a crash at every await, by ticks alone', async () => {
        for await (const { world } of singleKills(scenario, { drop: true })) expect(world.run).toBeDefined();
      });

      it('ends right after crashes at every two awaits', async () => {
        const operations = await countOperations(scenario, {});
        for (let first = 0; first < operations; first++) {
          for (let second = first + 1; second < operations; second++) {
            const kinds = ['before', 'after'] as const;
            const kills = new Map([
              [first, kinds[(first + second) % 2] as 'before'],
              [second, kinds[first % 2] as 'before'],
            ]);
            await play(scenario, { kills, drop: second % 3 === 0 });
          }
        }
      });

      it('ends right when a pass freezes at every await and wakes after its time limit', async () => {
        const operations = await countOperations(scenario, {});
        for (let at = 0; at < operations; at++) {
          for (const when of ['before', 'after'] as const) {
            for (const forMs of [5_000, 29_000, 31_000, 65_000, 200_000]) {
              await play(scenario, { freeze: { at, when, forMs } });
              await play(scenario, { freeze: { at, when, forMs }, drop: true });
              await play(scenario, { freeze: { at, when, forMs }, drop: true, tickMs: 5_000 });
            }
          }
        }
      });

      it('leaves nothing running when a call of StartExecution takes effect long after it was made', async () => {
        const operations = await countOperations(scenario, {});
        for (let at = 0; at < operations; at++) {
          const freeze = { at, when: 'before' as const, forMs: 200_000 };
          await play(scenario, { freeze, freezeStarts: true });
          await play(scenario, { freeze, freezeStarts: true, tickMs: 5_000 });
        }
      });

      it('ends right with three passes at once in any order, copies, crashes and freezes', async () => {
        const operations = await countOperations(scenario, {});
        for (let seed = 1; seed <= 300; seed++) {
          const choose = chooser(seed * 7919);
          const kills = new Map<number, 'before' | 'after'>();
          for (let kill = choose(4); kill > 0; kill--)
            kills.set(choose(operations * 2), choose(2) === 0 ? 'before' : 'after');
          const freeze = { at: choose(operations * 2), when: 'before' as const, forMs: choose(100_000) };
          await play(scenario, { choose, kills, copies: 1 + choose(3), ...(choose(2) === 0 && { freeze }) });
        }
      });
    });
  }
});
