/** Processes of functions that cannot notice the end of their host. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { machineArn, writeAssembly } from './host-assembly.ts';

/** Writes its process's number, and never notices anything again. */
const looping = `
import { writeFileSync } from 'node:fs';
export const handler = async ({ file }) => {
  writeFileSync(file, String(process.pid));
  for (;;);
};`;

const stopped = looping.replace('for (;;);', "process.kill(process.pid, 'SIGSTOP');");

let folder: string;
let cdkOut: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'host-left-processes-'));
  const own = {
    api: 'export const handler = async () => ({});',
    scheduler: 'export const handler = async () => null;',
  };
  cdkOut = await writeAssembly({ folder, own, users: { looping, stopped } });
});
afterAll(() => rm(folder, { recursive: true }));

it('end when the host is killed, though they loop or stand still', async () => {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('./host-process.ts', import.meta.url)), cdkOut, path.join(folder, 'data')],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [line] = await once(child.stdout, 'data');
  const access = { region: 'us-east-1', credentials: { accessKeyId: 'x', secretAccessKey: 'x' } };
  const client = new SFNClient({ ...access, endpoint: JSON.parse(String(line)).wireUrl });
  const pids: number[] = [];
  for (const name of ['looping', 'stopped']) {
    const file = path.join(folder, name);
    const input = { millrace: { run: 'r', timeoutSeconds: 60 }, params: { function: name, payload: { file } } };
    await client.send(
      new StartExecutionCommand({ stateMachineArn: machineArn, name: `test-${name}`, input: JSON.stringify(input) }),
    );
    await vi.waitFor(() => expect(existsSync(file) && readFileSync(file, 'utf8')).toMatch(/^\d+$/), {
      timeout: 60_000,
    });
    pids.push(Number(readFileSync(file, 'utf8')));
  }
  client.destroy();
  expect(pids.filter(isThere)).toHaveLength(2);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await vi.waitFor(() => expect(pids.filter(isThere)).toEqual([]), { timeout: 60_000 });
});

/** A process that has ended and that nobody waited for is not there any more. */
function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch (error) {
    // Where there is no /proc, that it takes a signal has to do.
    return error instanceof Error && 'path' in error && !existsSync('/proc/self');
  }
}
