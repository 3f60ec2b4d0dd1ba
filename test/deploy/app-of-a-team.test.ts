/** The CDK app of a team with Millrace in it, as the guide shows it; roles are enforced. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { putPipeline, startRun, untilOver, untilRunsOf } from './api-steps.ts';
import { type Cdk, createCdk } from './cdk.ts';
import { millrace } from './command-line.ts';
import { OWNER } from './deployment.ts';
import { type MiniStack, startMiniStack } from './ministack.ts';
import { assumeRole, roleOf } from './roles.ts';
import { type CallApi, createApiCaller } from './signed-api.ts';

const ORDER = { lines: [{ price: 20, count: 3 }] };

let folder: string;
let emulator: MiniStack;
let cdk: Cdk;
let apiUrl: string;
let call: CallApi;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-app-'));
  emulator = await startMiniStack({ auth: true, tls: true });
  cdk = createCdk(emulator, folder, { command: 'node examples/cdk-app/app.ts', stack: 'Shop' });
  await cdk.bootstrap();
  ({ ApiUrl: apiUrl = '' } = await cdk.deploy());
  call = createApiCaller(apiUrl, OWNER);
});
afterAll(async () => {
  await emulator?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('the app of a team', () => {
  it('has its pipeline once it is deployed, and starts it by the event of its trigger', async () => {
    expect(await call('GET', '/v1/pipelines/orders')).toMatchObject({ status: 200 });
    const bus = new EventBridgeClient({ endpoint: emulator.url, region: 'us-east-1', credentials: OWNER });
    const event = { Source: 'shop.checkout', DetailType: 'OrderPlaced', Detail: JSON.stringify(ORDER) };
    await bus.send(new PutEventsCommand({ Entries: [event] }));
    bus.destroy();
    const [run = ''] = await untilRunsOf(call, 'orders', 1, 60);
    expect(await untilOver(call, run, 200)).toMatchObject({
      state: 'SUCCEEDED',
      output: { confirmed: true, total: 60 },
      trigger: { type: 'event', by: 'shop.checkout, trigger placed-orders' },
    });
  });

  it('lets a role that may run start, read and stop, and change no pipeline', async () => {
    const clerk = createApiCaller(apiUrl, await assumeRole(emulator, await roleOf(emulator, 'Shop-Clerk')));
    const run = await startRun(clerk, 'orders', ORDER);
    expect(await untilOver(clerk, run, 200)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await clerk('POST', `/v1/runs/${run}/stop`)).toMatchObject({ status: 200 });
    const definition = { name: 'other', nodes: [{ id: 'only', engine: 'pass', params: {} }] };
    expect(await clerk('PUT', '/v1/pipelines/other', definition)).toMatchObject({ status: 403 });
    expect(await clerk('DELETE', `/v1/runs/${run}`)).toMatchObject({ status: 403 });
    await putPipeline(call, definition);
  });

  it('is run by the command line, which signs with the credentials that it finds', async () => {
    const clerk = await assumeRole(emulator, await roleOf(emulator, 'Shop-Clerk'));
    const input = ['--input', JSON.stringify(ORDER)];
    const run = await millrace(emulator, apiUrl, clerk, ['run', 'orders', '--wait', '--json', ...input]);
    expect(run.code, run.stderr).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({ state: 'SUCCEEDED', output: { confirmed: true, total: 60 } });
    const refused = await millrace(emulator, apiUrl, clerk, ['pools', 'put', 'warehouse', '--slots', '3']);
    expect(refused).toMatchObject({ code: expect.any(Number), stderr: expect.stringContaining('403') });
  });

  it('goes away', async () => {
    await cdk.destroy();
    expect((await call('GET', '/v1/health')).status).toBeGreaterThanOrEqual(400);
  });
});
