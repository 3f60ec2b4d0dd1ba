/** The process of every function dies once while a run needs it: its call is lost, and no run is. */
import { setTimeout as delay } from 'node:timers/promises';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { SetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  answerGate,
  expectOneExecutionPerAttempt,
  putPipeline,
  startRun,
  untilNode,
  untilOver,
  untilRunsOf,
} from './api-steps.ts';
import { type Deployment, deploy } from './deployment.ts';
import { killAtWork, lostBatches } from './kills.ts';
import { whatIsLeft } from './leftovers.ts';
import { watchRun } from './live.ts';
import { everything, everythingGives, gated, single } from './pipelines.ts';

/** When schedulers are killed (ms after the start of a run is asked for): before their pass, within it, and after it. */
const MOMENTS_MS = [0, 50, 100, 150, 200, 300, 400, 600];
/** How many passes have to be cut off before it is enough. */
const CUT_OFF = 2;
/** Runs take longer than two ticks if the call that was lost was their last. */
const TICKS_SECONDS = 300;

let deployment: Deployment;

beforeAll(async () => {
  deployment = await deploy({ ephemeral: false });
  for (const definition of [everything, gated('one'), single]) await putPipeline(deployment.call, definition);
});
afterAll(async () => {
  await deployment?.stop();
});

describe('a function whose process is killed in mid-run', () => {
  it.concurrent('intake: messages come again, and each request is taken once', async () => {
    const { emulator, clients, outputs, call } = deployment;
    await putPipeline(call, { ...single, name: 'requested' });
    await comesBackAfter(clients, outputs.RequestsUrl, 35);
    const bus = new EventBridgeClient(clients);
    let requests = 0;
    for (const ms of MOMENTS_MS.slice(2)) {
      if (lostBatches(emulator, 'millrace-intake') > 0) break;
      const Entries = tenRequests(outputs.BusName, requests);
      await killAtWork(emulator, 'millrace-intake', () => bus.send(new PutEventsCommand({ Entries })), ms);
      requests += Entries.length;
      await delay(1_000);
    }
    bus.destroy();
    expect(lostBatches(emulator, 'millrace-intake')).toBeGreaterThan(0);
    const runs = await untilRunsOf(call, 'requested', requests, TICKS_SECONDS);
    for (const run of runs) expect(await untilOver(call, run, TICKS_SECONDS)).toMatchObject({ state: 'SUCCEEDED' });
    expect((await call('GET', '/v1/runs?pipeline=requested&limit=100')).body.items).toHaveLength(requests);
  });

  it('a function of a team: the attempt fails, and is tried again as its node says', async () => {
    const { emulator, clients, call } = deployment;
    const start = () => startRun(call, 'gated', { seconds: 10 });
    const run = await killAtWork(emulator, 'deploy-slow', start, 1000);
    await untilNode(call, run, 'gate', 'RUNNING', TICKS_SECONDS);
    await answerGate(call, run);
    expect(await untilOver(call, run, TICKS_SECONDS)).toMatchObject({ state: 'SUCCEEDED', output: { attempts: 2 } });
    await expectOneExecutionPerAttempt(call, clients, run, 4);
  });

  it('api: the call that it answered is lost, and the run goes on', async () => {
    const { emulator, clients, call } = deployment;
    const run = await startRun(call, 'everything', { count: 3 });
    const answer = await killAtWork(emulator, 'millrace-api', () => call('GET', `/v1/runs/${run}?wait=20`), 500);
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect(await untilOver(call, run, TICKS_SECONDS)).toMatchObject({ state: 'SUCCEEDED', output: everythingGives(3) });
    await expectOneExecutionPerAttempt(call, clients, run, 8);
  });

  it('notifier: what it was to tell is lost, and the run goes on; who connects again is told again', async () => {
    const { emulator, call } = deployment;
    const run = await startRun(call, 'gated', { seconds: 0 });
    await untilNode(call, run, 'gate', 'RUNNING');
    let lost: Promise<unknown> | undefined;
    const connect = async () => {
      lost = watchRun(call, run, async () => undefined).catch((error: Error) => error);
    };
    await killAtWork(emulator, 'millrace-notifier', connect, 50);
    expect(await Promise.race([lost, delay(30_000)])).toBeInstanceOf(Error);
    const frames = await watchRun(call, run, () => answerGate(call, run));
    expect(frames[0]).toMatchObject({ type: 'Snapshot' });
    expect(await untilOver(call, run, TICKS_SECONDS)).toMatchObject({ state: 'SUCCEEDED' });
  });

  it('scheduler: in the middle of a pass, and the tick carries on what it left', async () => {
    const { emulator, clients, call } = deployment;
    const runs: string[] = [];
    while (lostBatches(emulator, 'millrace-scheduler') < CUT_OFF && runs.length < 5 * MOMENTS_MS.length) {
      const ms = MOMENTS_MS[runs.length % MOMENTS_MS.length] ?? 0;
      runs.push(await killAtWork(emulator, 'millrace-scheduler', () => startRun(call, 'single', { count: 2 }), ms));
    }
    expect(lostBatches(emulator, 'millrace-scheduler')).toBeGreaterThanOrEqual(CUT_OFF);
    for (const run of runs) {
      expect(await untilOver(call, run, TICKS_SECONDS)).toMatchObject({ state: 'SUCCEEDED', output: [1, 2] });
      await expectOneExecutionPerAttempt(call, clients, run, 1);
    }
  });
});

describe('cdk destroy', () => {
  it('keeps the table and the bucket of an installation that is not ephemeral', async () => {
    const { clients, outputs } = deployment;
    await deployment.destroy();
    const { tables, queues, stateMachines, buckets } = await whatIsLeft(clients);
    expect(tables).toEqual([outputs.TableName]);
    expect(buckets).toContain(outputs.PayloadBucketName);
    expect({ queues, stateMachines }).toEqual({ queues: [], stateMachines: [] });
  });
});

/** Ten events that ask for a run each. */
function tenRequests(bus: string, from: number) {
  return Array.from({ length: 10 }, (_, index) => ({
    EventBusName: bus,
    Source: 'orders',
    DetailType: 'RunRequested',
    Detail: JSON.stringify({ pipeline: 'requested', input: { count: 1 }, idempotencyKey: `order-${from + index}` }),
  }));
}

/** Shortens the time after which a message that was not settled is handed out again; the stack has 180 s. */
async function comesBackAfter(clients: Deployment['clients'], queueUrl: string, seconds: number): Promise<void> {
  const sqs = new SQSClient(clients);
  const attributes = { VisibilityTimeout: String(seconds) };
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl: queueUrl, Attributes: attributes }));
  sqs.destroy();
}
