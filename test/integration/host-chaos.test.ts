import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Host, startHost } from '#local/host.ts';
import { machineArn, writeAssembly } from './host-assembly.ts';

const recorder = `
import { appendFileSync } from 'node:fs';
export const handler = async (event) => {
  await new Promise((done) => setTimeout(done, 20));
  for (const record of event.Records ?? []) appendFileSync(process.env.RECORDS, record.body + '\\n');
};`;
const api = `export const handler = async () => {
  await new Promise((done) => setTimeout(done, 20));
  return { statusCode: 200, body: 'ok' };
};`;

const access = { region: 'us-east-1', credentials: { accessKeyId: 'x', secretAccessKey: 'x' } };
const input = JSON.stringify({ millrace: { timeoutSeconds: 60 }, params: { function: 'work', payload: {} } });

let folder: string;
let cdkOut: string;
let host: Host;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'host-chaos-'));
  await writeFile(path.join(folder, 'records'), '');
  cdkOut = await writeAssembly({
    folder,
    own: { api, scheduler: recorder },
    users: { work: 'export const handler = async () => 1;' },
    environment: { RECORDS: path.join(folder, 'records') },
  });
});
afterEach(async () => {
  await host.close();
  await rm(folder, { recursive: true });
});

const start = async (chaos: string) => {
  host = await startHost({ cdkOut, dataDir: path.join(folder, 'data'), port: 0, chaos, seed: 11 });
};
const run = (name: string, maxAttempts = 3) => {
  const client = new SFNClient({ ...access, endpoint: host.wireUrl, maxAttempts });
  return client.send(new StartExecutionCommand({ stateMachineArn: machineArn, name, input }));
};
const records = async () => (await readFile(path.join(folder, 'records'), 'utf8')).trim().split('\n').filter(Boolean);

describe('--chaos', () => {
  it('drops events, and not messages that are sent', async () => {
    await start('drop-events=1');
    const queue = new SQSClient({ ...access, endpoint: host.wireUrl });
    const QueueUrl = `${host.wireUrl}/000000000000/test-inbox`;
    await run('test-dropped');
    await vi.waitFor(() => expect(host.chaos?.dropped).toBe(1), { timeout: 5000 });
    await queue.send(new SendMessageCommand({ QueueUrl, MessageBody: 'sent' }));
    await vi.waitFor(async () => expect(await records()).toEqual(['sent']), { timeout: 5000 });
    const { Attributes } = await queue.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
    expect(Attributes).toMatchObject({ ApproximateNumberOfMessages: '0' });
  });

  it('repeats events', async () => {
    await start('repeat-events=1');
    await run('test-repeated');
    await vi.waitFor(async () => expect((await records()).length).toBeGreaterThan(1), { timeout: 5000 });
    expect(new Set(await records()).size).toBe(1);
    expect(host.chaos?.repeated).toBe(1);
  });

  it('kills invocations again and again, and nothing that was sent is lost', async () => {
    await start('kill=scheduler:0.5,kill=test-api:0.5');
    const names = Array.from({ length: 20 }, (_, index) => `test-${index}`);
    const statuses: number[] = [];
    for (const name of names) {
      await run(name);
      statuses.push((await fetch(host.url)).status);
    }
    expect(new Set(statuses)).toEqual(new Set([200, 500]));
    const seen = async () => new Set((await records()).map((record) => JSON.parse(record).name));
    await vi.waitFor(async () => expect(await seen()).toEqual(new Set(names)), { timeout: 60_000, interval: 50 });
    expect([...(host.chaos?.killed ?? [])].every(([, times]) => times > 0)).toBe(true);
  }, 90_000);

  it('throttles the API that it names, and no other', async () => {
    await start('throttle=StartExecution:1');
    await expect(run('test-throttled', 1)).rejects.toMatchObject({ name: 'ThrottlingException' });
    const queue = new SQSClient({ ...access, endpoint: host.wireUrl, maxAttempts: 1 });
    const QueueUrl = `${host.wireUrl}/000000000000/test-inbox`;
    expect(await queue.send(new SendMessageCommand({ QueueUrl, MessageBody: 'sent' }))).toHaveProperty('MessageId');
    expect(host.chaos?.throttled).toEqual(new Map([['StartExecution', 1]]));
  });
});

describe('a bad --chaos', () => {
  it('keeps the host from starting, and names the functions that there are', async () => {
    await start('drop-events=0');
    const options = { cdkOut, dataDir: path.join(folder, 'other'), port: 0 };
    await expect(startHost({ ...options, chaos: 'kill=nobody:1' })).rejects.toMatchObject({
      code: 'INVALID_CHAOS',
      message: expect.stringContaining('test-api, test-scheduler, work'),
    });
    await expect(startHost({ ...options, chaos: 'drop=1' })).rejects.toMatchObject({ code: 'INVALID_CHAOS' });
  });
});
