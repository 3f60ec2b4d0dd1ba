/** The emulator lets each function do what its role allows and nothing else, so a grant that is missing shows. */
import {
  DisableRuleCommand,
  EnableRuleCommand,
  EventBridgeClient,
  PutEventsCommand,
} from '@aws-sdk/client-eventbridge';
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
import { registerTeamEngine } from './engine-steps.ts';
import { watchRun } from './live.ts';
import { everything, everythingGives, gated, reporting, single } from './pipelines.ts';

let deployment: Deployment;

beforeAll(async () => {
  deployment = await deploy({ auth: true });
});
afterAll(async () => {
  await deployment?.stop();
});

describe('with roles enforced', () => {
  it('runs a pipeline to its end, by way of the bucket too', async () => {
    const { call, clients } = deployment;
    await putPipeline(call, everything);
    const run = await startRun(call, 'everything', { count: 3 });
    expect(await untilOver(call, run, 200)).toMatchObject({ state: 'SUCCEEDED', output: everythingGives(3) });
    await expectOneExecutionPerAttempt(call, clients, run, 8);
  });

  it('runs an engine that a team has registered, and lets a function report its progress', async () => {
    const { call, clients } = deployment;
    await putPipeline(call, reporting);
    await registerTeamEngine(call, clients);
    const run = await startRun(call, reporting.name);
    expect(await untilOver(call, run, 200)).toMatchObject({ state: 'SUCCEEDED', output: true });
  });

  it('stops a run, re-runs it, and deletes what is over', async () => {
    const { call } = deployment;
    await putPipeline(call, gated('one'));
    const run = await startRun(call, 'gated', { seconds: 1 });
    await untilNode(call, run, 'gate', 'RUNNING');
    expect(await call('POST', `/v1/runs/${run}/stop`)).toMatchObject({ status: 202 });
    expect(await untilOver(call, run, 200)).toMatchObject({ state: 'ABORTED' });

    const again = await call('POST', `/v1/runs/${run}/rerun`, { from: 'failed', revision: 'original' });
    expect(again).toMatchObject({ status: 201 });
    await untilNode(call, again.body.id, 'gate', 'RUNNING');
    await answerGate(call, again.body.id);
    expect(await untilOver(call, again.body.id, 200)).toMatchObject({ state: 'SUCCEEDED' });

    expect(await call('DELETE', `/v1/runs/${run}`)).toMatchObject({ status: 204 });
    expect(await call('DELETE', '/v1/pipelines/gated')).toMatchObject({ status: 204 });
  });

  it('tells a client of its WebSocket of a run, from a snapshot to the end', async () => {
    const { call } = deployment;
    await putPipeline(call, gated('one'));
    const run = await startRun(call, 'gated', { seconds: 1 });
    await untilNode(call, run, 'gate', 'RUNNING');
    const frames = await watchRun(call, run, () => answerGate(call, run));
    expect(frames[0]).toMatchObject({ type: 'Snapshot', run: { id: run } });
    expect(frames.at(-1)).toMatchObject({ type: 'RunChanged', runId: run, state: 'SUCCEEDED' });
  });

  it('takes requests from the bus, and goes on by ticks alone while no end of an execution is told', async () => {
    const { call, clients, outputs } = deployment;
    await putPipeline(call, single);
    const events = new EventBridgeClient(clients);
    await events.send(new DisableRuleCommand({ Name: 'millrace-executions' }));
    const detail = JSON.stringify({ pipeline: 'single', input: { count: 2 } });
    const Entries = [{ EventBusName: outputs.BusName, Source: 'orders', DetailType: 'RunRequested', Detail: detail }];
    await events.send(new PutEventsCommand({ Entries }));
    const [run = ''] = await untilRunsOf(call, 'single', 1, 60);
    expect(await untilOver(call, run, 200)).toMatchObject({ state: 'SUCCEEDED', output: [1, 2] });
    await events.send(new EnableRuleCommand({ Name: 'millrace-executions' }));
    events.destroy();
  });
});
