import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  ListExecutionsCommand,
  SFNClient,
  StartExecutionCommand,
  StateMachineDoesNotExist,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Host, startHost } from '#local/host.ts';
import { machineArn, writeAssembly } from './host-assembly.ts';

/** Appends what arrives to the file named in the environment, so that the test sees what AWS would have invoked. */
const recorder = `
import { appendFileSync } from 'node:fs';
export const handler = async (event) => {
  for (const record of event.Records ?? []) appendFileSync(process.env.RECORDS, record.body + '\\n');
  return { batchItemFailures: [] };
};`;

const echo = `export const handler = async (event, context) => ({ event, client: context.clientContext, name: context.functionName });`;
const failing = `export const handler = async () => { class BadInput extends Error { name = 'BadInput' } throw new BadInput('no rows'); };`;
const crashing = `export const handler = async () => process.exit(3);`;
const native = `export const handler = async () => process.kill(process.pid, 'SIGSEGV');`;
const slow = `export const handler = async ({ ms = 60000 }) => { await new Promise((done) => setTimeout(done, ms)); return 'late'; };`;
const values = `export const handler = async ({ kind }, context) => ({
  none: () => undefined,
  dropped: () => ({ a: undefined, b: NaN, c: new Date(0), d: () => {} }),
  bigint: () => ({ n: 1n }),
  text: () => { throw 'just text'; },
  rejection: () => { Promise.reject(new Error('nobody waits')); return new Promise(() => setInterval(() => {}, 1000)); },
  time: () => context.getRemainingTimeInMillis(),
  surroundings: () => [process.env.HOME, process.send, process.env.AWS_LAMBDA_FUNCTION_NAME, context.awsRequestId.length],
})[kind]();`;
const huge = `export const handler = async () => 'x'.repeat(300_000);`;

let folder: string;
let host: Host;
let client: SFNClient;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'host-executions-'));
  await writeFile(path.join(folder, 'records'), '');
  const cdkOut = await writeAssembly({
    folder,
    own: { api: `export const handler = async () => ({ statusCode: 200, body: 'ok' });`, scheduler: recorder },
    users: { echo, failing, crashing, native, slow, values, huge },
    environment: { RECORDS: path.join(folder, 'records') },
  });
  host = await startHost({ cdkOut, dataDir: path.join(folder, 'data'), port: 0 });
  client = new SFNClient({
    region: 'us-east-1',
    endpoint: host.wireUrl,
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
  });
});

afterAll(async () => {
  client.destroy();
  await host.close();
  await rm(folder, { recursive: true });
});

function input(functionName: string, payload: unknown = {}, timeoutSeconds = 3600): string {
  const millrace = { run: 'r', node: 'ü "quoted" \\ 節', attempt: 1, timeoutSeconds, token: 't' };
  return JSON.stringify({ millrace, params: { function: functionName, payload } });
}

async function start(name: string, executionInput: string): Promise<string> {
  const { executionArn } = await client.send(
    new StartExecutionCommand({ stateMachineArn: machineArn, name, input: executionInput }),
  );
  return executionArn ?? '';
}

/** The event of an execution's end, as it came through rule and queue. */
function ended(name: string): Promise<{ status: string; output: string | null }> {
  return vi.waitFor(
    async () => {
      const lines = (await readFile(path.join(folder, 'records'), 'utf8')).trim().split('\n').filter(Boolean);
      const found = lines.map((line) => JSON.parse(line)).find((record) => record.name === name);
      if (found === undefined) throw new Error(`${name} has not ended`);
      return found;
    },
    { timeout: 10_000, interval: 10 },
  );
}

async function listed(statusFilter: 'RUNNING' | 'ABORTED') {
  const asked = { stateMachineArn: machineArn, statusFilter, maxResults: 1_000 };
  const { executions } = await client.send(new ListExecutionsCommand(asked));
  return executions?.map(({ name }) => name);
}

async function failureOf(name: string) {
  const { status } = await ended(name);
  const { error, cause } = await client.send(
    new DescribeExecutionCommand({ executionArn: machineArn.replace('stateMachine', 'execution').concat(`:${name}`) }),
  );
  return { status, error, cause: cause === undefined ? undefined : JSON.parse(cause) };
}

describe('an execution on the host', () => {
  it('invokes the function with payload and client context, and its end comes through rule and queue', async () => {
    const arn = await start('test-echo', input('echo', { rows: [1, null, 'x\\"'] }));
    const { status, output } = await ended('test-echo');
    expect(status).toBe('SUCCEEDED');
    expect(JSON.parse(output ?? '')).toEqual({
      event: { rows: [1, null, 'x\\"'] },
      client: { run: 'r', node: 'ü "quoted" \\ 節', attempt: 1, timeoutSeconds: 3600, token: 't' },
      name: 'echo',
    });
    const described = await client.send(new DescribeExecutionCommand({ executionArn: arn }));
    expect(described).toMatchObject({ status: 'SUCCEEDED', output, name: 'test-echo', stateMachineArn: machineArn });
  });

  it('fails with the name and the words of the error that the function threw', async () => {
    await start('test-failing', input('failing'));
    expect(await failureOf('test-failing')).toMatchObject({
      status: 'FAILED',
      error: 'BadInput',
      cause: { errorType: 'BadInput', errorMessage: 'no rows' },
    });
  });

  it('survives functions that end their process, and says how they ended', async () => {
    await start('test-crashing', input('crashing'));
    await start('test-native', input('native'));
    const exit = await failureOf('test-crashing');
    expect(exit.error).toBe('Runtime.ExitError');
    expect(exit.cause.errorMessage).toMatch(/Runtime exited with error: exit status 3$/);
    expect((await failureOf('test-native')).cause.errorMessage).toMatch(/signal: segmentation fault$/);
  });

  it('ends a task at the time limit of its input', async () => {
    await start('test-slow', input('slow', { ms: 2000 }, 1));
    expect(await failureOf('test-slow')).toEqual({ status: 'FAILED', error: 'States.Timeout', cause: undefined });
  });

  it('does not fire a time limit of a year at once', async () => {
    await start('test-year', input('slow', { ms: 100 }, 31_536_000));
    expect((await ended('test-year')).status).toBe('SUCCEEDED');
  });

  it.each([
    ['none', null],
    ['dropped', { b: null, c: '1970-01-01T00:00:00.000Z' }],
    ['surroundings', [null, null, 'values', 36]],
  ])('carries values as JSON does: %s', async (kind, output) => {
    await start(`test-values-${kind}`, input('values', { kind }));
    expect(JSON.parse((await ended(`test-values-${kind}`)).output ?? '')).toEqual(output);
  });

  it.each([
    ['bigint', 'Error', 'Unable to stringify response body: Do not know how to serialize a BigInt'],
    ['text', 'string', 'just text'],
    ['rejection', 'Runtime.UnhandledPromiseRejection', 'nobody waits'],
  ])('fails as Lambda does: %s', async (kind, errorType, errorMessage) => {
    await start(`test-values-${kind}`, input('values', { kind }));
    expect(await failureOf(`test-values-${kind}`)).toMatchObject({
      error: errorType,
      cause: { errorType, errorMessage },
    });
  });

  it('tells the function how much time it has', async () => {
    await start('test-values-time', input('values', { kind: 'time' }));
    const remainingMs = Number((await ended('test-values-time')).output);
    expect(remainingMs).toBeGreaterThan(890_000);
    expect(remainingMs).toBeLessThanOrEqual(900_000);
  });

  it('refuses results above 256 KiB and unknown functions', async () => {
    await start('test-huge', input('huge'));
    await start('test-unknown', input('nobody'));
    await ended('test-huge');
    const executionArn = machineArn.replace('stateMachine', 'execution');
    const tooLarge = await client.send(new DescribeExecutionCommand({ executionArn: `${executionArn}:test-huge` }));
    expect(tooLarge.error).toBe('States.DataLimitExceeded');
    await ended('test-unknown');
    const unknown = await client.send(new DescribeExecutionCommand({ executionArn: `${executionArn}:test-unknown` }));
    expect(unknown).toMatchObject({ error: 'Lambda.ResourceNotFoundException' });
    expect(unknown.cause).toContain('nobody');
  });

  it('answers a repeated start as AWS does', async () => {
    const text = input('slow', { ms: 400 });
    const [first, second] = await Promise.all([start('test-twice', text), start('test-twice', text)]);
    expect(second).toBe(first);
    await expect(start('test-twice', input('slow', { ms: 1 }))).rejects.toThrow(ExecutionAlreadyExists);
    expect((await ended('test-twice')).status).toBe('SUCCEEDED');
    await expect(start('test-twice', text)).rejects.toThrow(ExecutionAlreadyExists);
  });

  it('stops an execution once, and its late result changes nothing', async () => {
    const executionArn = await start('test-stopped', input('slow', { ms: 300 }));
    expect(await listed('RUNNING')).toContain('test-stopped');
    await client.send(new StopExecutionCommand({ executionArn, error: 'Stopped', cause: 'by a test' }));
    expect(await listed('RUNNING')).not.toContain('test-stopped');
    expect(await listed('ABORTED')).toContain('test-stopped');
    expect((await ended('test-stopped')).status).toBe('ABORTED');
    const { stopDate } = await client.send(new StopExecutionCommand({ executionArn }));
    await vi.waitFor(() => expect(host.isIdle()).toBe(true), { timeout: 5000 });
    const described = await client.send(new DescribeExecutionCommand({ executionArn }));
    expect(described).toMatchObject({ status: 'ABORTED', error: 'Stopped', cause: 'by a test', stopDate });
  });

  it('refuses what is not there and bad names', async () => {
    const executionArn = machineArn.replace('stateMachine', 'execution').concat(':nobody');
    await expect(client.send(new DescribeExecutionCommand({ executionArn }))).rejects.toThrow(ExecutionDoesNotExist);
    await expect(client.send(new StopExecutionCommand({ executionArn }))).rejects.toThrow(ExecutionDoesNotExist);
    const other = { stateMachineArn: `${machineArn}-other`, name: 'x' };
    await expect(client.send(new StartExecutionCommand(other))).rejects.toThrow(StateMachineDoesNotExist);
    await expect(start('a b', '{}')).rejects.toMatchObject({ name: 'InvalidName' });
    await expect(start('x'.repeat(81), '{}')).rejects.toMatchObject({ name: 'InvalidName' });
    await expect(start('test-text', 'no json')).rejects.toMatchObject({ name: 'InvalidExecutionInput' });
    await expect(start('test-large', JSON.stringify('x'.repeat(262_143)))).rejects.toMatchObject({
      name: 'ValidationException',
    });
  });

  it('lists executions newest first, in pages', async () => {
    for (const index of [1, 2, 3]) await start(`test-listed-${index}`, input('echo', { index }));
    for (const index of [1, 2, 3]) await ended(`test-listed-${index}`);
    const names: string[] = [];
    let nextToken: string | undefined;
    do {
      const page = await client.send(
        new ListExecutionsCommand({ stateMachineArn: machineArn, maxResults: 2, nextToken, statusFilter: 'SUCCEEDED' }),
      );
      expect(page.executions?.length).toBeLessThanOrEqual(2);
      names.push(...(page.executions ?? []).map(({ name }) => name ?? ''));
      nextToken = page.nextToken;
    } while (nextToken !== undefined);
    expect(new Set(names.slice(0, 3))).toEqual(new Set(['test-listed-1', 'test-listed-2', 'test-listed-3']));
    expect(new Set(names).size).toBe(names.length);
    const all = await client.send(new ListExecutionsCommand({ stateMachineArn: machineArn }));
    expect(all.executions?.map(({ name }) => name)).toContain('test-stopped');
  });

  it('counts states, invocations and calls', () => {
    const counts = host.wireLog.snapshot();
    const { lambda = {}, states = {} } = counts.calls;
    expect(new Map(Object.entries(lambda)).get('echo')).toBe(4);
    expect(new Map(Object.entries(states)).get('StopExecution')).toBe(3);
    expect(counts.transitions).toBe(20);
    expect(counts.billedMs).toBeGreaterThan(400);
  });
});
