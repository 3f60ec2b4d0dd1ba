import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { pipelines, runMillrace, startMillrace } from './cli-process.ts';

/** A Node on the PATH that cannot run TypeScript, as on a machine that brings an old one. */
const oldNode = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .find(
    (node) => existsSync(node) && /^v(?:1\d|20|21)\./.test(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout),
  );

let folder: string;
/** Where the hosts of runs keep their temporary folders. */
let temporary: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cli-run-'));
  temporary = join(folder, 'tmp');
  await mkdir(temporary);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const around = () => ({ cwd: pipelines, env: { TMPDIR: temporary } });

/** Node leaves a cache of its own there. */
const hostFolders = async () => (await readdir(temporary)).filter((name) => name.startsWith('millrace-'));

describe('millrace run FILE', () => {
  it('runs a pipeline with the functions beside it, and shows how it went', async () => {
    const { code, stdout, stderr } = await runMillrace(['run', 'hello.yaml', '--input', '{"name":"Ada"}'], around());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^hello: run [a-z2-7]{26}, revision [0-9a-f]{16}, 2 nodes$/);
    expect(lines.slice(1, 5)).toEqual([
      expect.stringMatching(/^ +\d\.\d\d s {2}greet {2}RUNNING$/),
      expect.stringMatching(/^ +\d\.\d\d s {2}greet {2}SUCCEEDED {3}\d/),
      expect.stringMatching(/^ +\d\.\d\d s {2}shout {2}RUNNING$/),
      expect.stringMatching(/^ +\d\.\d\d s {2}shout {2}SUCCEEDED {3}\d/),
    ]);
    expect(stdout).toMatch(/^ {2}1 hop .*: median \d/m);
    expect(stdout).toMatch(/^ {2}[\d.,]+ write units .*, 2 state transitions, /m);
    expect(stdout).toContain('\nOutput\n"HELLO, ADA!"\n');
    expect(lines.at(-1)).toMatch(/^SUCCEEDED after .*: All 2 nodes are over/);
    expect(stdout).not.toContain('\u001B');
    expect(await hostFolders()).toEqual([]);
  });

  it('prints one JSON document with --json, the same under chaos', async () => {
    const chaos = ['--chaos', 'kill=scheduler:0.2,repeat-events=1', '--seed', '7', '--tick', '500ms'];
    const argv = ['run', 'hello.yaml', '--json', '--input', '{"name":"Ada"}', ...chaos];
    const { code, stdout, stderr } = await runMillrace(argv, around());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      pipeline: 'hello',
      state: 'SUCCEEDED',
      output: 'HELLO, ADA!',
      counts: { SUCCEEDED: 2 },
      nodes: [
        { id: 'greet', state: 'SUCCEEDED', attempt: 1, output: 'Hello, Ada' },
        { id: 'shout', state: 'SUCCEEDED', attempt: 1, output: 'HELLO, ADA!' },
      ],
      counters: {
        hops: { count: 1 },
        transitions: 2,
        calls: { states: { StartExecution: expect.any(Number) } },
        dollars: expect.any(Number),
        chaos: { droppedEvents: 0, repeatedEvents: expect.any(Number) },
      },
    });
  });

  it('ends with 1 where the run does not succeed', async () => {
    const { code, stdout } = await runMillrace(['run', 'hello.yaml', '--input', '{"name":"nobody"}'], around());
    expect(code).toBe(1);
    expect(stdout).toMatch(/ s {2}shout {2}RETRY_WAIT {2}attempt 2 failed: Error: nobody is there$/m);
    expect(stdout).toMatch(/^ {2}shout +FAILED +3 .*Error: nobody is there$/m);
    expect(stdout).toMatch(/^FAILED after .*: Node "shout" failed: Error: nobody is there/m);
  });

  it('stops the run at Ctrl-C, waits for its end and cleans up', async () => {
    const input = { began: join(folder, 'began'), gate: join(folder, 'never') };
    const started = startMillrace(['run', 'gated.yaml', '--json', '--input', JSON.stringify(input)], around());
    await vi.waitFor(() => expect(existsSync(input.began)).toBe(true), { timeout: 60_000, interval: 20 });
    started.child.kill('SIGINT');
    const { code, stdout, stderr } = await started.ended;
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'Stopping the run; press Ctrl-C again to leave at once.\n' });
    expect(JSON.parse(stdout)).toMatchObject({ state: 'ABORTED', counts: { ABORTED: 2 } });
    expect(await hostFolders()).toEqual([]);
  });
});

describe.skipIf(oldNode === undefined)('bin/millrace.js on an old Node', () => {
  const node = oldNode ?? '';

  it('goes on with the Node of the project', async () => {
    expect(await runMillrace(['validate', 'hello.yaml', 'nowhere.yaml'], { ...around(), node })).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('hello.yaml: valid: hello, 2 nodes, 1 edge\nnowhere.yaml FILE_NOT_FOUND'),
      stderr: '',
    });
  });

  it('takes the process that does the work along when it is killed', async () => {
    const started = startMillrace(
      ['dev', '--port', '0', '--data', join(folder, 'killed'), '--functions', 'functions', '--json'],
      { ...around(), node },
    );
    const { pid } = JSON.parse(await started.firstLine);
    expect(pid).not.toBe(started.child.pid);
    started.child.kill('SIGKILL');
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { timeout: 10_000, interval: 20 });
  });
});
