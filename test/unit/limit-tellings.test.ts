/** What the passes of one invocation tell a limit at the same time goes by one pass over it. */
import { describe, expect, it } from 'vitest';
import { createMemoryLimitStore } from '#adapters/memory/memory-limit-store.ts';
import { DEFAULT_STEP_OPTIONS } from '#domain/draft.ts';
import { limitName, newLimit, type WaitingRun } from '#domain/limit.ts';
import type { LimitStore } from '#ports/index.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { createLimitTellings } from '#scheduler/limit-tellings.ts';

const POOL = limitName('pool', 'warehouse');
const RUNS = ['a', 'b', 'c', 'd', 'e', 'f'];

async function withPool(slots: number, change: (store: LimitStore) => Partial<LimitStore> = () => ({})) {
  const store = createMemoryLimitStore();
  await store.commitLimit({ ...newLimit(POOL, slots), rev: 1 }, 0);
  const calls = { commits: 0, rung: [] as string[] };
  const limits: LimitStore = {
    ...store,
    commitLimit: (limit, rev) => {
      calls.commits += 1;
      return store.commitLimit(limit, rev);
    },
    ...change(store),
  };
  const inbox = {
    ringAll: async (things: readonly { id: string }[]) => void calls.rung.push(...things.map(({ id }) => id)),
  };
  const deps = { limits, inbox, clock: { now: () => 1_000 }, options: DEFAULT_STEP_OPTIONS } as unknown as PassDeps;
  const tellings = createLimitTellings();
  const ask = async (run: string) => {
    await store.putWaiting(row(run));
    const report = { run, nonce: 'n', pipeline: 'p', taken: 0, returned: 0, isWaiting: true };
    const passed = await tellings.tell(deps, POOL, { reports: [report], selves: [run] });
    return passed?.limit.holders.find((holder) => holder.run === run)?.granted ?? 0;
  };
  return { store, calls, ask };
}

function row(run: string): WaitingRun {
  return { limit: POOL, pipeline: 'p', priority: 0, since: 1, run, nonce: 'n', rev: 1, taken: 0, wants: 1 };
}

describe('tellings of one invocation', () => {
  it('go together while one is under way, and each asker sees what it was granted', async () => {
    const { calls, ask } = await withPool(10);
    expect(await Promise.all(RUNS.map(ask))).toEqual(RUNS.map(() => 1));
    expect(calls.commits).toBeLessThanOrEqual(2);
    expect(calls.rung).toEqual([]);
  });

  it('grant no more than there is', async () => {
    const { ask } = await withPool(2);
    const granted = await Promise.all(RUNS.map(ask));
    expect(granted.reduce((sum, one) => sum + one, 0)).toBe(2);
  });

  it('join no pass that has begun to read', async () => {
    const reading = Promise.withResolvers<void>();
    const open = Promise.withResolvers<void>();
    const { ask } = await withPool(10, (store) => ({
      // What was there when the pass asked is what it gets, however long the answer takes.
      listWaiting: async (...args) => {
        const rows = await store.listWaiting(...args);
        reading.resolve();
        await open.promise;
        return rows;
      },
    }));
    const first = ask('a');
    await reading.promise;
    const second = ask('b');
    open.resolve();
    expect(await Promise.all([first, second])).toEqual([1, 1]);
  });

  it('fail for all that went together, and go on after that', async () => {
    let isDown = true;
    const { ask } = await withPool(10, (store) => ({
      readLimit: (name) => (isDown ? Promise.reject(new Error('down')) : store.readLimit(name)),
    }));
    const outcomes = await Promise.allSettled(RUNS.map(ask));
    expect(outcomes.map(({ status }) => status)).toEqual(RUNS.map(() => 'rejected'));
    isDown = false;
    expect(await ask('a')).toBe(1);
  });
});
