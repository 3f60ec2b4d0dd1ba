/** What a team does with the CDK app, in order: bootstrap, deploy, use it, change a pipeline and a function in mid-run, destroy. */
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
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
import { emptyBucket } from './buckets.ts';
import { type Deployment, deploy } from './deployment.ts';
import { registerTeamEngine } from './engine-steps.ts';
import { whatIsLeft } from './leftovers.ts';
import { everything, everythingGives, gated, reporting, single } from './pipelines.ts';
import { createApiCaller } from './signed-api.ts';

let deployment: Deployment;

beforeAll(async () => {
  deployment = await deploy();
});
afterAll(async () => {
  await deployment?.stop();
});

describe('cdk deploy', () => {
  it('gives an API that answers those who sign their requests, and nobody else', async () => {
    const { call, outputs } = deployment;
    expect(await call('GET', '/v1/health')).toMatchObject({ status: 200, body: { status: 'ok' } });
    const stranger = createApiCaller(outputs.ApiUrl);
    expect(await stranger('GET', '/v1/health')).toMatchObject({ status: 403 });
  });

  it('gives an API that refuses a definition with all of its errors', async () => {
    const nodes = [{ id: 'a', engine: 'lambda', dependsOn: ['b'], params: {} }];
    const { status, body } = await deployment.call('PUT', '/v1/pipelines/wrong', { name: 'wrong', nodes });
    expect(status).toBe(422);
    expect(body.errors.map(({ path }: { path: string }) => path)).toHaveLength(2);
    expect(await deployment.call('GET', '/v1/pipelines/wrong')).toMatchObject({ status: 404 });
  });

  it('gives what runs a pipeline to its end: a map, expressions, a large output, a retry', async () => {
    const { call, clients } = deployment;
    await putPipeline(call, everything);
    const run = await startRun(call, 'everything', { count: 4 });
    const over = await untilOver(call, run, 180);
    expect(over).toMatchObject({ state: 'SUCCEEDED', output: everythingGives(4) });
    expect(over.counts).toEqual({ SUCCEEDED: everything.nodes.length });
    await expectOneExecutionPerAttempt(call, clients, run, 9);
  });

  it('stops a run for good, with the executions that it has', async () => {
    const { call, clients } = deployment;
    await putPipeline(call, gated('one'));
    const run = await startRun(call, 'gated', { seconds: 60 });
    await untilNode(call, run, 'slow', 'RUNNING');
    await untilNode(call, run, 'before', 'SUCCEEDED');
    expect(await call('POST', `/v1/runs/${run}/stop`)).toMatchObject({ status: 202 });
    const over = await untilOver(call, run, 180);
    expect(over).toMatchObject({ state: 'ABORTED', reason: 'Stopped', counts: { SUCCEEDED: 1, ABORTED: 3 } });
    const executions = await expectOneExecutionPerAttempt(call, clients, run, 2);
    expect(executions.map(({ status }) => status).sort()).toEqual(['ABORTED', 'SUCCEEDED']);
  });

  it('takes requests of other systems from the bus, each once', async () => {
    const { call, clients, outputs } = deployment;
    await putPipeline(call, single);
    const bus = new EventBridgeClient(clients);
    const detail = { pipeline: 'single', input: { count: 2 }, idempotencyKey: 'orders-1' };
    const event = {
      EventBusName: outputs.BusName,
      Source: 'orders',
      DetailType: 'RunRequested',
      Detail: JSON.stringify(detail),
    };
    await bus.send(new PutEventsCommand({ Entries: [event, event] }));
    bus.destroy();
    const [run = ''] = await untilRunsOf(call, 'single', 1, 60);
    expect(await untilOver(call, run, 120)).toMatchObject({
      state: 'SUCCEEDED',
      output: [1, 2],
      trigger: { type: 'event' },
    });
    expect((await call('GET', '/v1/runs?pipeline=single')).body.items).toHaveLength(1);
  });

  it('runs what waited for an engine as soon as somebody registers it, and hears what a function reports', async () => {
    const { call, clients } = deployment;
    await putPipeline(call, reporting);
    const run = await startRun(call, reporting.name);
    await untilNode(call, run, 'report', 'QUEUED');
    expect((await call('GET', `/v1/runs/${run}/nodes/report`)).body).toMatchObject({ reason: 'NoEngine' });
    await registerTeamEngine(call, clients);
    expect(await untilOver(call, run, 180)).toMatchObject({ state: 'SUCCEEDED', output: true });
  });

  it('changes a pipeline and a function in mid-run, and loses nothing', async () => {
    const { call, clients } = deployment;
    const run = await startRun(call, 'gated', { seconds: 5 });
    await untilNode(call, run, 'before', 'SUCCEEDED');
    await untilNode(call, run, 'slow', 'RUNNING');
    await deployment.changeFunction('deploy-version', (source) => source.replace(`'first'`, `'second'`));
    await putPipeline(call, gated('two'));
    await deployment.redeploy();
    await answerGate(call, run);
    expect(await untilOver(call, run, 180)).toMatchObject({
      state: 'SUCCEEDED',
      output: { label: 'one', before: 'first', after: 'second', attempts: 1 },
    });
    await expectOneExecutionPerAttempt(call, clients, run, 3);

    const later = await startRun(call, 'gated', { seconds: 0 });
    await untilNode(call, later, 'before', 'SUCCEEDED');
    await answerGate(call, later);
    const output = { label: 'two', before: 'second', after: 'second', attempts: 1 };
    expect(await untilOver(call, later, 180)).toMatchObject({ state: 'SUCCEEDED', output });
  });
});

describe('cdk destroy', () => {
  it('leaves nothing of what the app made', async () => {
    const { clients, outputs } = deployment;
    await emptyBucket(clients, outputs.PayloadBucketName);
    await deployment.destroy();
    expect(await whatIsLeft(clients)).toEqual({
      tables: [],
      queues: [],
      stateMachines: ['millrace-team'],
      buckets: ['cdk-hnb659fds-assets-000000000000-us-east-1'],
    });
  });
});
