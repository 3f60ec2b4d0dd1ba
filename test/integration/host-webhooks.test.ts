import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Host, startHost, synthesizeApp } from '#local/host.ts';
import { openWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

let folder: string;
let receiver: WebhookReceiver;
let cdkOut: string;
let host: Host;
const said: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'host-webhooks-'));
  receiver = await openWebhookReceiver();
  process.env['WEBHOOK_SERVER'] = receiver.url;
  cdkOut = await synthesizeApp({ app: 'node test/integration/webhook-app.ts', outDir: path.join(folder, 'out') });
  await mkdir(dataDir());
  await writeFile(secretsFile(), JSON.stringify({ shared: JSON.stringify({ hook: 'told-to-both' }) }));
  await open();
}, 60_000);

afterAll(async () => {
  await host.close();
  receiver.close();
  await rm(folder, { recursive: true });
});

const dataDir = () => path.join(folder, 'data');
const secretsFile = () => path.join(dataDir(), 'secrets.json');

async function open(): Promise<void> {
  host = await startHost({ cdkOut, dataDir: dataDir(), port: 0, tickSeconds: 1, log: (line) => said.push(line) });
}

async function wire(target: string, body: object): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': target };
  const answer = await fetch(host.wireUrl, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await answer.json()) as Record<string, unknown>;
}

/** Publishes that a run of a pipeline failed; `rev` tells the events apart. */
async function publish(pipeline: string, ...revs: number[]): Promise<void> {
  const Entries = revs.map((rev) => ({
    Source: 'millrace.scheduler',
    DetailType: 'RunChanged',
    EventBusName: 'millrace',
    Detail: JSON.stringify({ runId: 'r', pipeline, rev, state: 'RUNNING', previousState: 'QUEUED' }),
  }));
  expect(await wire('AWSEvents.PutEvents', { Entries })).toMatchObject({ FailedEntryCount: 0 });
}

/** Waits for the next dead letter of a webhook, and takes it. */
async function deadLetter(webhook: string): Promise<unknown> {
  const QueueUrl = `${host.wireUrl}/000000000000/millrace-webhook-${webhook}-dead-letters`;
  const { Messages } = await wire('AmazonSQS.ReceiveMessage', { QueueUrl, WaitTimeSeconds: 10 });
  const [message] = Messages as { Body: string; ReceiptHandle: string }[];
  await wire('AmazonSQS.DeleteMessage', { QueueUrl, ReceiptHandle: message?.ReceiptHandle });
  return JSON.parse(message?.Body ?? 'null');
}

describe('a webhook on the development host', () => {
  it('is told of a run that failed, with the secret that was made for it', async () => {
    const json = { 'content-type': 'application/json' };
    const definition = { name: 'etl', nodes: [{ id: 'a', engine: 'pass', params: { output: '{% $error("no") %}' } }] };
    const put = await fetch(`${host.url}/v1/pipelines/etl`, {
      method: 'PUT',
      headers: json,
      body: JSON.stringify(definition),
    });
    expect(put.status).toBe(201);
    const start = await fetch(`${host.url}/v1/pipelines/etl/runs`, { method: 'POST', headers: json, body: '{}' });
    const { id } = (await start.json()) as { id: string };
    const [told] = await receiver.received('/chat', 1);
    expect(told?.body).toMatchObject({
      type: 'RunChanged',
      installation: 'millrace',
      data: { runId: id, pipeline: 'etl', state: 'FAILED' },
    });
    const secrets = Object.entries(JSON.parse(await readFile(secretsFile(), 'utf8')) as Record<string, string>);
    const [, generated] = secrets.find(([name]) => name.includes('ChatKey')) ?? [];
    expect(generated).toMatch(/^\w{32}$/);
    expect(told?.headers['x-api-key']).toBe(generated);
  });

  it('is tried again after an answer of 500, with the same event and the secret that it was given', async () => {
    receiver.answers.set('/stubborn', [500]);
    await publish('stubborn', 1);
    const [first, second] = await receiver.received('/stubborn', 2);
    expect(second?.body).toEqual(first?.body);
    expect(second?.headers['x-api-key']).toBe('told-to-both');
  });

  it('is given up after the last try, and at once where the answer says that it never will be taken', async () => {
    receiver.answers.set('/stubborn', [503, 503, 400]);
    await publish('stubborn', 2);
    expect(await deadLetter('stubborn')).toMatchObject({ type: 'RunChanged', data: { rev: 2 } });
    await publish('stubborn', 3);
    expect(await deadLetter('stubborn')).toMatchObject({ data: { rev: 3 } });
    const revs = (await receiver.received('/stubborn', 5)).map(({ body }) => body.data['rev']);
    expect(revs).toEqual([1, 1, 2, 2, 3]);
  });

  it('is posted to no faster than it wants', async () => {
    await publish('paced', 1, 2, 3, 4, 5, 6);
    const times = (await receiver.received('/paced', 6)).map(({ at }) => at);
    // Six in a row at five a second: a second from the first to the last, but for how exact a timer is.
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(900);
  });

  it('is told after a restart what it did not take before, with the same secrets', async () => {
    const before = await readFile(secretsFile(), 'utf8');
    receiver.answers.set('/restarted', [500]);
    await publish('restarted', 1);
    await receiver.received('/restarted', 1);
    await host.close();
    await open();
    const [first, second] = await receiver.received('/restarted', 2);
    expect(second?.body).toEqual(first?.body);
    expect(await readFile(secretsFile(), 'utf8')).toBe(before);
  });

  it('that is not on this machine is named at the start, and never called', () => {
    expect(said.filter((line) => line.includes('https://hooks.example.com'))).toHaveLength(2);
  });

  it('keeps the host from starting where its secret is missing, and where the file cannot be read', async () => {
    await host.close();
    const before = await readFile(secretsFile());
    await writeFile(secretsFile(), '{}');
    await expect(open()).rejects.toMatchObject({
      code: 'SECRET_NOT_GIVEN',
      message: expect.stringContaining('shared'),
    });
    await writeFile(secretsFile(), '{"shared": 1}');
    await expect(open()).rejects.toMatchObject({ code: 'INVALID_SECRETS' });
    await writeFile(secretsFile(), before);
    await open();
  });
});
