import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startHost } from '#local/host.ts';
import { machineArn, writeAssembly } from './host-assembly.ts';

const recorder = `
import { appendFileSync } from 'node:fs';
export const handler = async (event) => {
  for (const record of event.Records ?? []) appendFileSync(process.env.RECORDS, record.body + '\\n');
};`;

/** Says that it has begun, and goes on once the file is there. */
const gated = `
import { appendFileSync, existsSync } from 'node:fs';
export const handler = async ({ began, gate }) => {
  appendFileSync(began, 'x');
  while (!existsSync(gate)) await new Promise((done) => setTimeout(done, 10));
  return 'through';
};`;

let folder: string;
let cdkOut: string;
let child: ChildProcess;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'host-recovery-'));
  cdkOut = await writeAssembly({
    folder,
    own: { api: 'export const handler = async () => ({ statusCode: 200 });', scheduler: recorder },
    users: { gated },
    environment: { RECORDS: path.join(folder, 'records') },
  });
});

afterAll(async () => {
  child.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

function clientOf(wireUrl: string): SFNClient {
  return new SFNClient({
    region: 'us-east-1',
    endpoint: wireUrl,
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
  });
}

describe('a host that is killed', () => {
  it('runs what it was running again under the same names at the next start, and lets nobody else use its data', async () => {
    const dataDir = path.join(folder, 'data');
    const began = path.join(folder, 'began');
    const gate = path.join(folder, 'gate');
    child = spawn(process.execPath, [fileURLToPath(new URL('./host-process.ts', import.meta.url)), cdkOut, dataDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(child.stdout ?? child, 'data');
    const client = clientOf(JSON.parse(String(line)).wireUrl);
    const input = JSON.stringify({
      millrace: { run: 'r', node: 'n', attempt: 1, timeoutSeconds: 60, token: 't' },
      params: { function: 'gated', payload: { began, gate } },
    });
    const start = new StartExecutionCommand({ stateMachineArn: machineArn, name: 'test-cut', input });
    const { executionArn, startDate } = await client.send(start);
    await vi.waitFor(() => expect(existsSync(began)).toBe(true), { timeout: 10_000, interval: 10 });
    await expect(startHost({ cdkOut, dataDir, port: 0 })).rejects.toMatchObject({ code: 'DATA_IN_USE' });
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
    client.destroy();

    const host = await startHost({ cdkOut, dataDir, port: 0 });
    const again = clientOf(host.wireUrl);
    await vi.waitFor(() => expect(readFileSync(began, 'utf8')).toBe('xx'), { timeout: 10_000, interval: 10 });
    expect(await again.send(start)).toMatchObject({ executionArn, startDate });
    await writeFile(gate, '');
    const records = path.join(folder, 'records');
    await vi.waitFor(() => expect(existsSync(records)).toBe(true), { timeout: 10_000, interval: 10 });
    expect(JSON.parse(readFileSync(records, 'utf8'))).toMatchObject({ name: 'test-cut', status: 'SUCCEEDED' });
    const described = await again.send(new DescribeExecutionCommand({ executionArn }));
    expect(described).toMatchObject({ status: 'SUCCEEDED', startDate, output: '"through"' });
    again.destroy();
    await host.close();
  });
});
