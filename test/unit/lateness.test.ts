import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryDueIndex, DueMap } from '#adapters/memory/memory-due-index.ts';
import { DEFAULT_STEP_OPTIONS } from '#domain/draft.ts';
import { measureLateness } from '#scheduler/tick.ts';

const NOW = Date.UTC(2026, 10, 30, 12);
const TICK = DEFAULT_STEP_OPTIONS.tickMs;

/** What is measured where things have been due for so many milliseconds, and how often the index was asked. */
async function measure(...dueForMs: number[]) {
  const run = new DueMap(dueForMs.map((ms, at) => [`r${at}`, { dueAt: NOW - ms }] as const));
  const index = createMemoryDueIndex({ run });
  let asked = 0;
  const due = {
    due(now: number) {
      asked += 1;
      return index.due(now);
    },
  };
  const lateness = await measureLateness({ due, clock: { now: () => NOW }, options: DEFAULT_STEP_OPTIONS });
  return { ...lateness, asked };
}

describe('measureLateness', () => {
  it('is nothing where nothing is due, or all of it is on its way, and asks once', async () => {
    for (const due of [[], [0], [TICK], [2 * TICK - 1, 5], [-TICK]]) {
      expect(await measure(...due)).toEqual({ oldestMs: 0, stuck: 0, asked: 1 });
    }
  });

  it('says how long what is due longest has been due, to the tick', async () => {
    expect(await measure(0, 7 * TICK + 1)).toMatchObject({ oldestMs: 7 * TICK, stuck: 0 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: -5, max: 100_000 }), { minLength: 1 }), async (ticks) => {
        const { oldestMs, stuck } = await measure(...ticks.map((each) => each * TICK));
        const oldest = Math.max(...ticks);
        expect(oldestMs).toBe(oldest < 2 ? 0 : oldest * TICK);
        expect(stuck).toBe(ticks.filter((each) => each >= 15).length);
      }),
    );
  });

  it('asks a few times more the later it is', async () => {
    expect((await measure(365 * 24 * 60 * TICK)).asked).toBeLessThan(45);
  });
});
