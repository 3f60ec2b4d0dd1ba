/** What the DynamoDB run store alone does: expiry, and what it makes of damaged items. */

import { deflateRawSync, gzipSync } from 'node:zlib';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDynamoRunStore } from '#adapters/aws/dynamo-run-store.ts';
import { createTable } from '#adapters/aws/table.ts';
import { aggregateKey, resultSortKey, runPartition, valueSortKey } from '#adapters/aws/table-keys.ts';
import { DamagedRunError, packRun } from '#domain/run-codec.ts';
import { openDynamoRunStore } from './dynamo-run-store.harness.ts';
import { CREATED, nextId, sampleHeader, sampleRun } from './sample-run.ts';
import { startDynalite, type TableServer } from './tables.ts';

const DAY = 24 * 3_600_000;

let server: TableServer;

beforeAll(async () => {
  server = await startDynalite();
});

afterAll(() => server.close());

describe('expiry', () => {
  const finished = () =>
    sampleRun({ state: 'SUCCEEDED', reason: 'Completed', endedAt: CREATED + 1_000, nodes: 'SSS', flights: [] });

  it('ends a finished run after 91 days, whether or not its item was taken by then', async () => {
    const clock = { time: CREATED, now: () => clock.time };
    const { store } = await openDynamoRunStore(server, clock);
    const run = finished();
    await store.createRun(run);
    clock.time = CREATED + 90 * DAY;
    expect(await store.readRun(run.id)).toEqual(run);
    expect(await store.createRun({ ...run, nonce: 'zzzzzzzz' })).toMatchObject({ created: false });
    clock.time = CREATED + 91 * DAY + 2_000;
    expect(await store.readRun(run.id)).toBeUndefined();
    const anew = sampleRun({ id: run.id, nonce: 'zzzzzzzz' });
    expect(await store.createRun(anew)).toEqual({ created: true });
    expect(await store.readRun(run.id)).toEqual(anew);
  });

  it('never ends a run that is not finished', async () => {
    const clock = { time: CREATED, now: () => clock.time };
    const { store } = await openDynamoRunStore(server, clock);
    const run = sampleRun();
    await store.createRun(run);
    await store.putHeader(sampleHeader({ id: run.id }));
    clock.time = CREATED + 10_000 * DAY;
    expect(await store.readRun(run.id)).toEqual(run);
    expect((await store.listRuns({ limit: 5 })).items).toHaveLength(1);
  });

  it('leaves expired runs out of lists', async () => {
    const clock = { time: CREATED, now: () => clock.time };
    const { store } = await openDynamoRunStore(server, clock);
    const kept = sampleHeader();
    await store.putHeader(kept);
    await store.putHeader(sampleHeader({ state: 'FAILED', endedAt: CREATED + 5 }));
    expect((await store.listRuns({ limit: 5 })).items).toHaveLength(2);
    clock.time = CREATED + 92 * DAY;
    expect(await store.listRuns({ limit: 5 })).toEqual({ items: [kept] });
  });
});

describe('damaged items', () => {
  async function openRaw() {
    const TableName = await server.createTable();
    return {
      store: createDynamoRunStore(createTable(server.client, TableName), { now: () => CREATED }),
      put: (Item: Record<string, unknown>) => server.client.send(new PutCommand({ TableName, Item })),
    };
  }

  it.each([
    ['no attributes', {}],
    ['a text as revision', { v: '1', c: 1, b: Buffer.from('x') }],
    ['half a revision', { v: 1.5, c: 1, b: Buffer.from('x') }],
    ['a text as state', { v: 1, c: 1, b: '{}' }],
    ['a state cut short', { v: 1, c: 1, b: deflateRawSync(packRun(sampleRun()).body).subarray(0, 50) }],
    ['a state that inflates to gigabytes', { v: 1, c: 1, b: bomb() }],
    ['a state that is not UTF-8', { v: 1, c: 1, b: deflateRawSync(Buffer.from([0x22, 0xff, 0x22])) }],
    ['a state that is no JSON', { v: 1, c: 1, b: deflateRawSync('{"p":') }],
    ['a state of other fields', { v: 1, c: 1, b: deflateRawSync('{"p":1}') }],
    ['schema 0', { v: 1, c: 0, b: deflateRawSync(packRun(sampleRun()).body) }],
  ])('are told from runs: %s', async (_, attributes) => {
    const { store, put } = await openRaw();
    const id = nextId();
    await put({ ...aggregateKey(id), ...attributes });
    await expect(store.readRun(id)).rejects.toThrow(DamagedRunError);
  });

  it.each([
    ['no text', {}],
    ['a number as text', { t: 5 }],
    ['bytes that are not compressed', { z: Buffer.from('x') }],
    ['a text cut short', { z: gzipSync('"x"').subarray(0, 12) }],
    ['chunks that are not there', { n: 2, h: 'digest' }],
  ])('are told from values and results: %s', async (what, attributes) => {
    const { store, put } = await openRaw();
    const run = { id: nextId(), nonce: 'abcdefgh' };
    await put({ pk: runPartition(run), sk: valueSortKey('input'), ...attributes });
    await expect(store.readValue(run, 'input')).rejects.toThrow(DamagedRunError);
    await put({ pk: runPartition(run), sk: resultSortKey(0, 1), s: 'S', a: 1, d: 1, ...attributes });
    if (what === 'no text') expect(await store.readResult(run, 0, 1)).not.toHaveProperty('output');
    else await expect(store.readResult(run, 0, 1)).rejects.toThrow(DamagedRunError);
  });

  it('do not take the list of runs with them', async () => {
    const { store, put } = await openRaw();
    const header = sampleHeader();
    await store.putHeader(header);
    for (const [at, b] of ['{', '{"state":"ODD"}', 7].entries()) {
      await put({ pk: 'runs', sk: `${String(CREATED + at).padStart(16, '0')}#${nextId()}`, v: 1, b });
    }
    expect(await store.listRuns({ limit: 2 })).toEqual({ items: [header] });
  });
});

/** A few kilobytes that inflate to 64 MiB. */
function bomb(): Buffer {
  return deflateRawSync(Buffer.alloc(64 * 1024 * 1024, ' '));
}
