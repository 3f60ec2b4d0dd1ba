import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Disk, openDisk } from '#local/disk.ts';
import { openQueues } from '#local/queues.ts';
import { openTables } from '#local/tables.ts';
import { createWireLog } from '#local/wire-log.ts';
import { TABLE, TABLE_PROPERTIES } from './local-table-properties.ts';

const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:inbox';
const ACKNOWLEDGED = 300;

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'millrace-kill-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

/** Runs the writer and kills it with SIGKILL when it has printed `count` numbers. @returns the last number printed */
async function writeAndKill(count: number): Promise<number> {
  const script = join(import.meta.dirname, 'local-kill-writer.ts');
  const writer = spawn(process.execPath, [script, dataDir, QUEUE], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(writer, 'exit');
  let last = 0;
  for await (const line of createInterface({ input: writer.stdout })) {
    last = Number(line);
    if (last === count) writer.kill('SIGKILL');
  }
  expect(await exit).toEqual([null, 'SIGKILL']);
  return last;
}

async function messagesOf(disk: Disk): Promise<number[]> {
  const queues = openQueues({ disk, wireLog: createWireLog() });
  await queues.create({ arn: QUEUE, url: 'http://127.0.0.1/inbox' }, {});
  const { depth } = queues.counters(QUEUE);
  const bodies: number[] = [];
  await new Promise<void>((resolve) => {
    queues.consume(QUEUE, {}, async (records) => {
      bodies.push(...records.map(({ body }) => Number(body)));
      if (bodies.length === depth) resolve();
      return { failures: [] };
    });
  });
  await queues.close();
  return bodies;
}

describe('kill -9 of a host', () => {
  it('loses no message and no item that was answered for, and leaves no stray index row', async () => {
    const last = await writeAndKill(ACKNOWLEDGED);
    const disk = await openDisk(dataDir);
    const bodies = await messagesOf(disk);
    const expected = Array.from({ length: last }, (_, index) => index + 1);
    expect(bodies.filter((n) => n <= last).toSorted((one, other) => one - other)).toEqual(expected);
    expect(bodies.length).toBeLessThanOrEqual(last + 1);

    const tables = await openTables({ folder: join(dataDir, 'dynamodb'), wireLog: createWireLog() });
    await tables.create(TABLE, TABLE_PROPERTIES);
    const answerTo = async (api: string, request: object) => {
      const body = Buffer.from(JSON.stringify({ TableName: TABLE, ...request }));
      return JSON.parse((await tables.handle(`DynamoDB_20120810.${api}`, body)).body.toString());
    };
    const { Item } = await answerTo('GetItem', { Key: { pk: { S: 'run' }, sk: { S: 'A' } } });
    expect(Number(Item.da.N)).toBeGreaterThanOrEqual(last);
    const { Items } = await answerTo('Scan', { IndexName: 'due' });
    expect(Items).toEqual([Item]);
    await tables.close();
    await disk.close();
  });
});
