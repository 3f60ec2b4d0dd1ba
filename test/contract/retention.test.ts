import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { createDynamoRunStore } from '#adapters/aws/dynamo-run-store.ts';
import { createTable } from '#adapters/aws/table.ts';
import { aggregateKey } from '#adapters/aws/table-keys.ts';
import { CREATED, sampleRun } from './sample-run.ts';
import { startDynalite } from './tables.ts';

const DAY_SECONDS = 24 * 3600;

describe('U13 the time to live of a finished run', () => {
  it.each([
    [undefined, 91],
    [1, 2],
    [365, 366],
  ])('with retainDays %s is over a day after that', async (retainDays, days) => {
    const server = await startDynalite();
    const TableName = await server.createTable();
    const store = createDynamoRunStore(createTable(server.client, TableName), { now: () => CREATED });
    const run = sampleRun({ ...(retainDays !== undefined && { retainDays }), state: 'SUCCEEDED', endedAt: CREATED });
    await store.createRun(run);
    const { Item } = await server.client.send(new GetCommand({ TableName, Key: { ...aggregateKey(run.id) } }));
    expect(Item?.['ttl']).toBe(Math.ceil(CREATED / 1000) + days * DAY_SECONDS);
    expect((await store.readRun(run.id))?.retainDays).toBe(retainDays);
    await server.close();
  });
});
