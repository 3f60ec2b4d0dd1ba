/** What the stores cost, as the development host counts it: write and read units, index writes included. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunRecord } from '#domain/run.ts';
import type { DueIndex, RunStore } from '#ports/index.ts';
import { openDynamoRunStore } from './dynamo-run-store.harness.ts';
import { CREATED, nextId, sampleDecision, sampleFlight, sampleHeader, sampleRun } from './sample-run.ts';
import { startHostTables } from './tables.ts';

let server: Awaited<ReturnType<typeof startHostTables>>;
let store: RunStore;
let due: DueIndex;

beforeAll(async () => {
  server = await startHostTables();
});

afterAll(() => server.close());

beforeEach(async () => {
  ({ store, due } = await openDynamoRunStore(server));
});

async function unitsOf(work: () => Promise<unknown>): Promise<{ written: number; read: number }> {
  const before = server.wireLog.snapshot();
  await work();
  const counted = server.wireLog.since(before);
  return { written: counted.writeUnits, read: counted.readUnits };
}

/** A run of 50 nodes in the middle of its work, with the last 20 decisions. */
function ordinaryRun(): RunRecord {
  return sampleRun({
    nodes: `${'S'.repeat(23)}rrr${'p'.repeat(24)}`,
    flights: [23, 24, 25].map((node) => sampleFlight(node, { startedAt: CREATED + node * 997 })),
    decisions: Array.from({ length: 20 }, (_, at) =>
      sampleDecision(at + 10, [at + 3], { to: at % 2 ? 'r' : 'S', at: CREATED + at * 499 }),
    ),
  });
}

describe('units of the run store', () => {
  it('commits an ordinary run for one, and for none more while its due time stays', async () => {
    const run = ordinaryRun();
    await store.createRun(run);
    expect(await unitsOf(() => store.commitRun({ ...run, rev: 2 }, 1))).toEqual({ written: 1, read: 0 });
  });

  it('writes two more where the due time moves, and one where it appears or goes', async () => {
    const { dueAt, ...idle } = ordinaryRun();
    await store.createRun(idle);
    const due = { ...idle, dueAt: dueAt as number };
    expect(await unitsOf(() => store.commitRun({ ...due, rev: 2 }, 1))).toMatchObject({ written: 2 });
    expect(await unitsOf(() => store.commitRun({ ...due, rev: 3, dueAt: CREATED }, 2))).toMatchObject({ written: 3 });
    expect(await unitsOf(() => store.commitRun({ ...idle, rev: 4 }, 3))).toMatchObject({ written: 2 });
  });

  it('pays one for a lost commit', async () => {
    const run = ordinaryRun();
    await store.createRun(run);
    expect(await unitsOf(() => store.commitRun({ ...run, rev: 8 }, 7))).toEqual({ written: 1, read: 0 });
  });

  it('reads a run for one', async () => {
    const run = ordinaryRun();
    await store.createRun(run);
    expect(await unitsOf(() => store.readRun(run.id))).toEqual({ written: 0, read: 1 });
  });

  it.each([100, 900, 922])('stores a result with an output of %i bytes for one', async (bytes) => {
    const run = { id: nextId(), nonce: 'abcdefgh' };
    const output = JSON.stringify('x'.repeat(bytes - 2));
    const result = {
      node: 9_999,
      attempt: 10_000,
      status: 'SUCCEEDED' as const,
      output,
      startedAt: CREATED,
      endedAt: CREATED + 86_399_999,
    };
    expect(await unitsOf(() => store.putResult(run, result))).toEqual({ written: 1, read: 0 });
    expect(await unitsOf(() => store.putResult(run, result))).toEqual({ written: 1, read: 0 });
  });

  it('writes a header for one, and one for the index', async () => {
    const header = sampleHeader({ tags: [['team', 'data']] });
    expect(await unitsOf(() => store.putHeader(header))).toEqual({ written: 2, read: 0 });
    expect(await unitsOf(() => store.putHeader({ ...header, rev: 2 }))).toEqual({ written: 2, read: 0 });
  });

  it('looks for what is due for half a unit a shard', async () => {
    const look = async () => {
      for await (const page of due.due(CREATED)) expect(page).toEqual([]);
    };
    expect(await unitsOf(look)).toEqual({ written: 0, read: 4 });
  });
});
