/** What the DynamoDB store of limits alone does: what it costs, and what it makes of damaged items. */
import { deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limitKey, waitingPartition, waitingSortKey } from '#adapters/aws/table-keys.ts';
import { MAX_SLOTS } from '#domain/limit.ts';
import { DamagedLimitError, packLimit } from '#domain/limit-codec.ts';
import { openDynamoLimitStore } from './dynamo-limit-store.harness.ts';
import { fullEngine, sampleHolder, sampleLimit, sampleRow } from './sample-limit.ts';
import { CREATED } from './sample-run.ts';
import { startHostTables } from './tables.ts';

let server: Awaited<ReturnType<typeof startHostTables>>;

beforeAll(async () => {
  server = await startHostTables();
});

afterAll(() => server.close());

async function unitsOf(work: () => Promise<unknown>): Promise<{ written: number; read: number }> {
  const before = server.wireLog.snapshot();
  await work();
  const counted = server.wireLog.since(before);
  return { written: counted.writeUnits, read: counted.readUnits };
}

/** An engine whose ten slots ten runs hold. */
function ordinaryEngine() {
  return fullEngine({ rev: 1, holders: Array.from({ length: 10 }, () => sampleHolder()) });
}

describe('units of the store of limits', () => {
  it('commits an ordinary limit for one, and moves its due time for two more', async () => {
    const { store } = await openDynamoLimitStore(server);
    const limit = ordinaryEngine();
    expect(await unitsOf(() => store.commitLimit(limit, 0))).toEqual({ written: 2, read: 0 });
    expect(await unitsOf(() => store.commitLimit({ ...limit, rev: 2, slots: 9 }, 1))).toEqual({ written: 1, read: 0 });
    const later = { ...limit, rev: 3, dueAt: CREATED + 120_000 };
    expect(await unitsOf(() => store.commitLimit(later, 2))).toEqual({ written: 3, read: 0 });
  });

  it('pays one for a lost commit, and one for a reading', async () => {
    const { store } = await openDynamoLimitStore(server);
    const limit = ordinaryEngine();
    await store.commitLimit(limit, 0);
    expect(await unitsOf(() => store.commitLimit({ ...limit, rev: 9 }, 8))).toEqual({ written: 1, read: 0 });
    expect(await unitsOf(() => store.readLimit(limit.name))).toEqual({ written: 0, read: 1 });
  });

  it('puts a row for one, again for one, and takes it away for one, there or not', async () => {
    const { store } = await openDynamoLimitStore(server);
    const row = sampleRow({ isByHand: true });
    for (const work of [
      () => store.putWaiting(row),
      () => store.putWaiting(row),
      () => store.removeWaiting(row),
      () => store.removeWaiting(row),
    ]) {
      expect(await unitsOf(work)).toEqual({ written: 1, read: 0 });
    }
  });

  it('reads twenty rows of many for one', async () => {
    const { store } = await openDynamoLimitStore(server);
    const rows = Array.from({ length: 100 }, (_, since) => sampleRow({ since }));
    await Promise.all(rows.map((row) => store.putWaiting(row)));
    expect(await unitsOf(() => store.listWaiting('pool/db', 20))).toEqual({ written: 0, read: 1 });
    expect(await unitsOf(() => store.listWaiting('pool/db', 20, { pipeline: 'etl' }))).toMatchObject({ written: 0 });
    expect(await unitsOf(() => store.listWaiting('pool/other', 20))).toEqual({ written: 0, read: 1 });
  });

  it('lists ten engines for one', async () => {
    const { store } = await openDynamoLimitStore(server);
    for (let at = 0; at < 30; at++) {
      const { engine } = fullEngine();
      await store.commitLimit(sampleLimit({ name: `engine/e${at}`, ...(engine && { engine }) }), 0);
    }
    expect(await unitsOf(() => store.listLimits('engine', 10))).toEqual({ written: 0, read: 1 });
  });

  it('keeps a limit of a thousand holders far below the longest item', async () => {
    const { store } = await openDynamoLimitStore(server);
    const holders = Array.from({ length: MAX_SLOTS }, (_, at) => sampleHolder({ pipeline: `pipeline-${at % 20}` }));
    const units = await unitsOf(() => store.commitLimit(sampleLimit({ slots: MAX_SLOTS, holders }), 0));
    expect(units.written).toBeLessThan(50);
  });
});

describe('damaged items', () => {
  const deflated = (text: string) => deflateRawSync(Buffer.from(text));

  it.each([
    ['no attributes', {}],
    ['a text as revision', { v: '1', c: 1, b: deflated('{}') }],
    ['a text as state', { v: 1, c: 1, b: '{}' }],
    ['a state cut short', { v: 1, c: 1, b: deflated(packLimit(fullEngine()).body).subarray(0, 50) }],
    ['a state that inflates to gigabytes', { v: 1, c: 1, b: deflated(' '.repeat(64 * 1024 * 1024)) }],
    ['a state that is not UTF-8', { v: 1, c: 1, b: deflateRawSync(Buffer.from([0x22, 0xff, 0x22])) }],
    ['a state that is no JSON', { v: 1, c: 1, b: deflated('{"s":') }],
    ['a state of other fields', { v: 1, c: 1, b: deflated('{"odd":1}') }],
    ['slots below nothing', { v: 1, c: 1, b: deflated('{"s":-1}') }],
    ['a holder of half a slot', { v: 1, c: 1, b: deflated('{"h":[["r","n","p",0.5,0]]}') }],
    ['a schema of parameters that is a list', { v: 1, c: 1, b: deflated('{"e":{"g":1,"a":"x","u":1,"p":[]}}') }],
    ['schema 0', { v: 1, c: 0, b: deflated('{}') }],
  ])('are told from limits: %s', async (_, attributes) => {
    const { store, table } = await openDynamoLimitStore(server);
    await table.put({ ...limitKey('pool/db'), ...attributes });
    await store.commitLimit(sampleLimit({ name: 'pool/good' }), 0);
    await expect(store.readLimit('pool/db')).rejects.toThrow(DamagedLimitError);
    expect((await store.listLimits('pool', 5)).items).toEqual([sampleLimit({ name: 'pool/good' })]);
  });

  it('do not stand in the way of the rows behind them', async () => {
    const { store, table } = await openDynamoLimitStore(server);
    const [damaged, good] = [sampleRow({ priority: 9 }), sampleRow()];
    const pk = waitingPartition('pool/db');
    await table.put({ pk, sk: waitingSortKey(damaged), n: 'abcdefgh', v: 'x', t: 0, w: 1 });
    await table.put({ pk, sk: 'etl', n: 'abcdefgh', v: 1, t: 0, w: 1 });
    await store.putWaiting(good);
    for (const count of [1, 2, 3]) expect(await store.listWaiting('pool/db', count)).toEqual([good]);
  });
});
