import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTables, type TableService } from '#local/tables.ts';
import { createWireLog, type WireLog } from '#local/wire-log.ts';
import { TABLE, TABLE_PROPERTIES } from './local-table-properties.ts';
import { listen } from './wire-listener.ts';

let folder: string;
let wireLog: WireLog;
let tables: TableService;
let wire: Awaited<ReturnType<typeof listen>>;
let client: DynamoDBClient;

async function start(properties: object = TABLE_PROPERTIES): Promise<void> {
  tables = await openTables({ folder, wireLog });
  await tables.create(TABLE, properties);
  wire = await listen({ DynamoDB_20120810: tables.handle });
  client = new DynamoDBClient(wire.clientConfig);
}
async function stop(): Promise<void> {
  client.destroy();
  await wire.close();
  await tables.close();
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-tables-'));
  wireLog = createWireLog();
  await start();
});
afterEach(async () => {
  await stop();
  await rm(folder, { recursive: true });
});

/** The units of what `run` does: write, read. */
async function units(run: () => Promise<unknown>): Promise<[number, number]> {
  const before = wireLog.snapshot();
  await run();
  const { writeUnits, readUnits } = wireLog.since(before);
  return [writeUnits, readUnits];
}

const text = (length: number) => ({ S: 'x'.repeat(length) });
const key = (pk: string, sk = 'A') => ({ pk: { S: pk }, sk: { S: sk } });
const put = (pk: string, attributes: object = {}) =>
  client.send(new PutItemCommand({ TableName: TABLE, Item: { ...key(pk), ...attributes } }));
const due = (shard: string, at: number) => ({ ds: { S: shard }, da: { N: String(at) } });

function queryDue(shard: string, options: object = {}) {
  return client.send(
    new QueryCommand({
      TableName: TABLE,
      IndexName: 'due',
      KeyConditionExpression: 'ds = :shard AND da <= :now',
      ExpressionAttributeValues: { ':shard': { S: shard }, ':now': { N: '1000' } },
      ...options,
    }),
  );
}

describe('openTables', () => {
  it('keeps items and index rows over a restart', async () => {
    await put('one', { ...due('0', 5), n: { N: '12.50' }, list: { L: [{ BOOL: true }, { NULL: true }] } });
    await put('two', due('0', 2000));
    await stop();
    await start();
    const { Item } = await client.send(new GetItemCommand({ TableName: TABLE, Key: key('one') }));
    expect(Item).toMatchObject({ n: { N: '12.5' }, list: { L: [{ BOOL: true }, { NULL: true }] } });
    expect((await queryDue('0')).Items).toEqual([{ ...key('one'), ...due('0', 5) }]);
    const { Table } = await client.send(new DescribeTableCommand({ TableName: TABLE }));
    expect(Table?.TableStatus).toBe('ACTIVE');
  });

  it('moves and removes index rows with their items', async () => {
    await put('one', due('0', 5));
    await put('one', due('1', 7));
    expect([(await queryDue('0')).Count, (await queryDue('1')).Count]).toEqual([0, 1]);
    await put('one');
    expect((await queryDue('1')).Count).toBe(0);
    await put('one', due('0', 5));
    await client.send(new DeleteItemCommand({ TableName: TABLE, Key: key('one') }));
    expect((await queryDue('0')).Count).toBe(0);
  });

  it('keeps apart items of one index key whose hashes collide, also between pages', async () => {
    const [one, other] = collidingKeys();
    await put(one, due('0', 5));
    await put(other, due('0', 5));
    const first = await queryDue('0', { Limit: 1 });
    const second = await queryDue('0', { Limit: 1, ExclusiveStartKey: first.LastEvaluatedKey });
    const third = await queryDue('0', { Limit: 1, ExclusiveStartKey: second.LastEvaluatedKey });
    const found = [...(first.Items ?? []), ...(second.Items ?? [])].map(({ pk }) => pk?.S);
    expect([found.toSorted(), third.Count]).toEqual([[one, other].toSorted(), 0]);
    const backwards = await queryDue('0', {
      Limit: 1,
      ExclusiveStartKey: second.LastEvaluatedKey,
      ScanIndexForward: false,
    });
    expect(backwards.Items).toEqual(first.Items);
  });

  it('pages through a partition and bills only what it walks over', async () => {
    const sort = (index: number) => String(index).padStart(3, '0');
    for (let index = 0; index < 120; index += 24) {
      const requests = Array.from({ length: 24 }, (_, offset) => ({
        PutRequest: { Item: { ...key('many', sort(index + offset)), v: text(1000) } },
      }));
      await client.send(new BatchWriteItemCommand({ RequestItems: { [TABLE]: requests } }));
    }
    const query = (options: object) =>
      client.send(
        new QueryCommand({
          TableName: TABLE,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': { S: 'many' } },
          ...options,
        }),
      );
    const page = await query({ Limit: 2, ScanIndexForward: false });
    expect(page.Items?.map(({ sk }) => sk?.S)).toEqual(['119', '118']);
    expect(await units(() => query({ Limit: 3, ConsistentRead: true }))).toEqual([0, 1]);
    expect(await units(() => query({ ConsistentRead: true }))).toEqual([0, Math.ceil((120 * 1012) / 4096)]);
    expect(await units(() => client.send(new ScanCommand({ TableName: TABLE })))).toEqual([
      0,
      Math.ceil((120 * 1012) / 4096) / 2,
    ]);
  });

  it('gives the old item on a failed condition when asked, and only then', async () => {
    await put('one', { rev: { N: '3' } });
    const update = {
      TableName: TABLE,
      Key: key('one'),
      UpdateExpression: 'SET rev = :next',
      ConditionExpression: 'rev = :rev',
      ExpressionAttributeValues: { ':rev': { N: '2' }, ':next': { N: '3' } },
    };
    await expect(client.send(new UpdateItemCommand(update))).rejects.toMatchObject({
      name: 'ConditionalCheckFailedException',
      Item: undefined,
    });
    await expect(
      client.send(new UpdateItemCommand({ ...update, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' })),
    ).rejects.toMatchObject({ Item: { ...key('one'), rev: { N: '3' } } });
  });

  it('refuses what it does not host by name', async () => {
    await expect(client.send(new GetItemCommand({ TableName: 'nobody', Key: key('x') }))).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
    const answer = await tables.handle('DynamoDB_20120810.TransactWriteItems', Buffer.from('{}'));
    expect([answer.status, JSON.parse(answer.body.toString()).message]).toEqual([
      400,
      'TransactWriteItems is not hosted',
    ]);
    const withStream = { ...TABLE_PROPERTIES, StreamSpecification: { StreamViewType: 'NEW_IMAGE' } };
    await expect(tables.create('streamed', withStream)).rejects.toMatchObject({
      code: 'UNSUPPORTED_TABLE',
      message: 'Table streamed: StreamSpecification: streams are not hosted',
    });
  });

  it('builds the indexes anew when they have changed, and refuses another key', async () => {
    await put('one', { ...due('0', 5), rp: { S: 'p' }, rs: { S: '1' } });
    const [dueIndex, runsIndex] = TABLE_PROPERTIES.GlobalSecondaryIndexes;
    const runs = () =>
      client.send(
        new QueryCommand({
          TableName: TABLE,
          IndexName: 'runs',
          KeyConditionExpression: 'rp = :p',
          ExpressionAttributeValues: { ':p': { S: 'p' } },
        }),
      );
    await stop();
    await start({ ...TABLE_PROPERTIES, GlobalSecondaryIndexes: [dueIndex] });
    await expect(runs()).rejects.toThrow(/does not have the specified index/);
    await put('two', { rp: { S: 'p' }, rs: { S: '2' } });
    await stop();
    await start({ ...TABLE_PROPERTIES, GlobalSecondaryIndexes: [dueIndex, runsIndex] });
    expect((await runs()).Items?.map(({ pk }) => pk?.S)).toEqual(['one', 'two']);
    expect((await queryDue('0')).Count).toBe(1);
    await expect(
      tables.create(TABLE, { ...TABLE_PROPERTIES, KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }] }),
    ).rejects.toMatchObject({ code: 'TABLE_CHANGED' });
  });
});

describe('units', () => {
  it('bills writes by the larger of old and new item', async () => {
    expect(await units(() => put('one', { v: text(1010) }))).toEqual([1, 0]);
    expect(await units(() => put('one', { v: text(1020) }))).toEqual([2, 0]);
    expect(await units(() => put('one'))).toEqual([2, 0]);
    expect(await units(() => put('one', { v: { S: 'ä'.repeat(600) } }))).toEqual([2, 0]);
    const remove = () => client.send(new DeleteItemCommand({ TableName: TABLE, Key: key('one') }));
    expect(await units(remove)).toEqual([2, 0]);
    expect(await units(remove)).toEqual([1, 0]);
  });

  it('bills index rows that come, go, move or change', async () => {
    expect(await units(() => put('one', { ...due('0', 5), v: text(10) }))).toEqual([1 + 1, 0]);
    expect(await units(() => put('one', { ...due('0', 5), v: text(20) }))).toEqual([1, 0]);
    expect(await units(() => put('one', { ...due('0', 6), v: text(20) }))).toEqual([1 + 2, 0]);
    expect(await units(() => put('one', { v: text(20) }))).toEqual([1 + 1, 0]);
    const run = { rp: { S: 'p' }, rs: { S: '1' } };
    expect(await units(() => put('two', { ...run, v: text(1500) }))).toEqual([2 + 2, 0]);
    expect(await units(() => put('two', { ...run, v: text(100) }))).toEqual([2 + 2, 0]);
    expect(await units(() => put('two', { ...run, v: text(100) }))).toEqual([1, 0]);
  });

  it('bills updates by the whole item and failed conditions like writes', async () => {
    await put('one', { rev: { N: '1' }, v: text(3000) });
    const update = (rev: string) =>
      client.send(
        new UpdateItemCommand({
          TableName: TABLE,
          Key: key('one'),
          UpdateExpression: 'SET rev = :next',
          ConditionExpression: 'rev = :rev',
          ExpressionAttributeValues: { ':rev': { N: rev }, ':next': { N: '2' } },
        }),
      );
    expect(await units(() => update('1'))).toEqual([3, 0]);
    expect(await units(() => update('1').catch(() => undefined))).toEqual([3, 0]);
    const create = () =>
      client.send(
        new PutItemCommand({
          TableName: TABLE,
          Item: { ...key('one'), v: text(5000) },
          ConditionExpression: 'attribute_not_exists(pk)',
        }),
      );
    expect(await units(() => create().catch(() => undefined))).toEqual([5, 0]);
  });

  it('bills reads in steps of 4 KB, half when eventually consistent', async () => {
    await put('one', { v: text(5000) });
    const get = (pk: string, ConsistentRead: boolean) =>
      client.send(new GetItemCommand({ TableName: TABLE, Key: key(pk), ConsistentRead }));
    expect(await units(() => get('one', true))).toEqual([0, 2]);
    expect(await units(() => get('one', false))).toEqual([0, 1]);
    expect(await units(() => get('none', true))).toEqual([0, 1]);
    expect(await units(() => queryDue('9'))).toEqual([0, 0.5]);
    const Keys = [key('one'), key('none')];
    const batch = { RequestItems: { [TABLE]: { Keys, ConsistentRead: true } } };
    expect(await units(() => client.send(new BatchGetItemCommand(batch)))).toEqual([0, 3]);
  });
});

/** Two partition keys whose index rows dynalite would give one key. */
function collidingKeys(): [string, string] {
  const seen = new Map<string, string>();
  for (let index = 0; ; index++) {
    const pk = `run-${index}`;
    const hash = createHash('md5').update('Outliers').update(pk).update('A').digest('hex').slice(0, 6);
    const other = seen.get(hash);
    if (other !== undefined) return [other, pk];
    seen.set(hash, pk);
  }
}
