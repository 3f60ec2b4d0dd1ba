/** On the host, by its real bus, rules and queues: pipelines that start each other by triggers, and a flood of requests. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { App, CfnOutput, RemovalPolicy } from 'aws-cdk-lib';
import { Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { EVENT_SCHEMAS } from '#http/event-schemas.ts';
import { type Host, startHost } from '#local/host.ts';
import cdkJson from '../../cdk.json' with { type: 'json' };
import { MillraceStack } from '../../infra/stacks/millrace-stack.ts';

const STARTS_PER_MINUTE = 20;
const access = { region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };

let folder: string;
let host: Host;

/** The app with two triggers that make a loop, and a queue that keeps what is refused. */
function synthesize(outdir: string): void {
  const app = new App({ context: cdkJson.context, outdir, builtinCloudFormationValidation: false });
  const stack = new MillraceStack(app, 'Millrace', {
    removalPolicy: RemovalPolicy.DESTROY,
    eventStartsPerMinute: STARTS_PER_MINUTE,
  });
  const ended = (pipeline: string) => ({
    'detail-type': ['RunChanged'],
    detail: { pipeline: [pipeline], state: ['SUCCEEDED'] },
  });
  stack.millrace.addTrigger('after-ping', { pipeline: 'pong', bus: stack.millrace.bus, filter: ended('ping') });
  stack.millrace.addTrigger('after-pong', {
    pipeline: 'ping',
    bus: stack.millrace.bus,
    filter: ended('pong'),
    input: { by: 'pong' },
  });
  const refused = new Queue(stack, 'Refused', { queueName: 'refused' });
  new Rule(stack, 'Refusals', {
    eventBus: stack.millrace.bus,
    eventPattern: { detailType: ['RunRejected'] },
    targets: [new SqsQueue(refused)],
  });
  new CfnOutput(stack, 'RefusedUrl', { value: refused.queueUrl });
  app.synth();
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'event-loops-'));
  const cdkOut = path.join(folder, 'cdk.out');
  synthesize(cdkOut);
  host = await startHost({ cdkOut, dataDir: path.join(folder, 'data'), port: 0 });
  for (const name of ['ping', 'pong', 'flooded']) {
    const response = await fetch(`${host.url}/v1/pipelines/${name}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name, nodes: [{ id: 'only', engine: 'pass' }] }),
    });
    expect(response.status).toBe(201);
  }
}, 120_000);

afterAll(async () => {
  await host?.close();
  await rm(folder, { recursive: true });
});

const runList = z.object({
  items: z.array(
    z.object({
      id: z.string(),
      pipeline: z.string(),
      state: z.string(),
      createdAt: z.string(),
      trigger: z.object({ type: z.string(), by: z.string().optional(), runId: z.string().optional() }),
    }),
  ),
});

async function runsOf(...pipelines: string[]) {
  const pages = await Promise.all(
    pipelines.map(async (name) =>
      runList.parse(await (await fetch(`${host.url}/v1/runs?pipeline=${name}&limit=100`)).json()),
    ),
  );
  return pages.flatMap(({ items }) => items);
}

/** Takes what was refused since the last call, once nothing is under way any more. */
async function refusals() {
  const client = new SQSClient({ ...access, endpoint: host.wireUrl });
  const QueueUrl = host.outputs.get('RefusedUrl');
  const found: z.output<(typeof EVENT_SCHEMAS)['RunRejected']>[] = [];
  const takeSome = async () => {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
    );
    for (const { Body = '{}', ReceiptHandle } of Messages) {
      found.push(EVENT_SCHEMAS.RunRejected.parse(JSON.parse(Body).detail));
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
    return found.length > 0 && host.isIdle();
  };
  await expect.poll(takeSome, { timeout: 40_000 }).toBe(true);
  return found;
}

it('two pipelines that start each other end after 16 hops', async () => {
  const started = await fetch(`${host.url}/v1/pipelines/ping/runs`, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json' },
  });
  expect(started.status).toBe(201);
  expect(await refusals()).toMatchObject([
    {
      code: 'TOO_MANY_HOPS',
      pipeline: 'pong',
      trigger: 'after-ping',
      detailType: 'RunChanged',
    },
  ]);
  const runs = await runsOf('ping', 'pong');
  expect(runs.map(({ state }) => state)).toEqual(Array.from({ length: 17 }, () => 'SUCCEEDED'));
  const byEvents = runs.filter(({ trigger }) => trigger.type === 'event');
  expect(new Set(byEvents.map(({ trigger }) => trigger.runId)).size).toBe(16);
}, 60_000);

it('a flood of requests starts so many runs a minute, and is answered one by one', async () => {
  const client = new EventBridgeClient({ ...access, endpoint: host.wireUrl });
  const count = 60;
  for (let first = 0; first < count; first += 10) {
    const Entries = Array.from({ length: 10 }, () => ({
      EventBusName: host.outputs.get('BusName'),
      Source: 'flood',
      DetailType: 'RunRequested',
      Detail: JSON.stringify({ pipeline: 'flooded' }),
    }));
    expect((await client.send(new PutEventsCommand({ Entries }))).FailedEntryCount).toBe(0);
  }
  const refused = await refusals();
  expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['TOO_MANY_STARTS']));
  const runs = await runsOf('flooded');
  expect(runs.length + refused.length).toBe(count);
  // The flood may lie across the end of a minute, and each has room for so many.
  expect(runs.length).toBeGreaterThanOrEqual(STARTS_PER_MINUTE);
  expect(runs.length).toBeLessThanOrEqual(2 * STARTS_PER_MINUTE);
}, 60_000);
