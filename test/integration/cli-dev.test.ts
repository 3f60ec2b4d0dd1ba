import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { pipelines, runMillrace, type Started, startMillrace } from './cli-process.ts';

const functions = join(pipelines, 'functions');
const hello = join(pipelines, 'hello.yaml');
const gated = join(pipelines, 'gated.yaml');

let folder: string;
let dev: Started;
let url: string;

/** Starts the host on its data; its address may be another one each time. */
async function startDev(...more: readonly string[]): Promise<void> {
  const argv = ['dev', '--port', '0', '--data', 'data', '--functions', functions, '--tick', '500ms', '--json', ...more];
  dev = startMillrace(argv, { cwd: folder });
  const ready = JSON.parse(await dev.firstLine);
  expect(ready).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    wsUrl: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/live$/),
    data: join(folder, 'data'),
    pid: dev.child.pid,
  });
  url = ready.url;
}

const millrace = (...argv: readonly string[]) => runMillrace(argv, { cwd: folder, env: { MILLRACE_URL: url } });
const json = async (...argv: readonly string[]) => JSON.parse((await millrace(...argv, '--json')).stdout);
const get = async (path: string): Promise<unknown> => (await fetch(`${url}${path}`)).json();
const gateInput = (name: string) => ({ began: join(folder, `${name}-began`), gate: join(folder, `${name}-gate`) });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cli-dev-'));
  await writeFile(
    join(folder, 'bad.yaml'),
    'name: bad\nnodes:\n  - id: a\n    param: {}\n    engine: task\n  - id: b\n    dependsOn: [extrac]\n    engine: task\n',
  );
  await writeFile(join(folder, 'broken.yaml'), 'name: [x\n');
  await writeFile(join(folder, 'broken.json'), '{"name": "x",}');
  await startDev();
});

afterAll(async () => {
  dev.child.kill('SIGKILL');
  await dev.ended;
  await rm(folder, { recursive: true, force: true });
});

describe('commands on a running host', () => {
  it('put, start, show, explain, stop and list a run', async () => {
    const input = gateInput('shown');
    expect((await millrace('pipelines')).stdout).toMatch(/^No pipelines\./);
    const started = await millrace('run', gated, '--input', JSON.stringify(input));
    expect(started).toMatchObject({ code: 0, stderr: '' });
    const id = /^Run ([a-z2-7]{26}) of gated was started/.exec(started.stdout)?.[1] ?? '';
    await vi.waitFor(() => expect(existsSync(input.began)).toBe(true), { timeout: 60_000, interval: 20 });

    const status = await millrace('status', id);
    expect(status).toMatchObject({ code: 0, stderr: '' });
    expect(status.stdout).toMatch(/^ {2}wait {4}RUNNING +1 /m);
    expect(status.stdout).toMatch(/^ {2}after {3}PENDING .*"wait"/m);
    const explained = await millrace('explain', id);
    expect(explained.stdout).toMatch(/^ {2}wait {2}RUNNING \(\w+\) for [^\n]+\n {4}\S[^\n]+\n {4}→ /m);
    expect((await millrace('history', id)).stdout).toMatch(/^ +\d\.\d{3} s +\d+ {3}wait +RUNNING /m);

    const watched = startMillrace(['status', id, '--watch'], { cwd: folder, env: { MILLRACE_URL: url } });
    await watched.firstLine;
    const stopped = await millrace('stop', id);
    expect(stopped).toMatchObject({ code: 0, stderr: '' });
    const told = await watched.ended;
    expect(told).toMatchObject({ code: 1, stderr: '' });
    expect(told.stdout).toMatch(/^ {2}RUNNING +wait[\s\S]+^ {2}ABORTED +the run/m);
    expect(stopped.stdout).toMatch(/^Run [a-z2-7]{26} is (?:STOPPING|ABORTED): /);
    await vi.waitFor(async () => expect(await get(`/v1/runs/${id}?wait=5`)).toMatchObject({ state: 'ABORTED' }), {
      timeout: 60_000,
    });
    expect((await millrace('runs', '--state', 'aborted')).stdout).toMatch(
      new RegExp(`^ {2}${id} +gated +ABORTED `, 'm'),
    );
    expect(await json('stop', id)).toMatchObject({ outcome: 'ALREADY_FINISHED' });
  });

  it('give the JSON of the API unchanged', async () => {
    const { stdout, code } = await millrace('pipelines', 'gated', '--json');
    const answer = await fetch(`${url}/v1/pipelines/gated`);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${await answer.text()}\n` });
  });

  it('wait for the end of a run', async () => {
    await writeFile(join(folder, 'input.json'), '{"name": "Ada"}');
    const waited = await json('run', hello, '--wait', '--input', '@input.json');
    expect(waited).toMatchObject({
      state: 'SUCCEEDED',
      output: 'HELLO, ADA!',
      nodes: [{ id: 'greet' }, { id: 'shout' }],
    });
    const failed = await millrace('run', 'hello', '--wait', '--input', '{"name":"nobody"}');
    expect(failed.code).toBe(1);
    expect(failed.stdout).toMatch(/^FAILED after .*nobody is there/m);
  });
});

describe('bad input', () => {
  const portOf = () => new URL(url).port;

  it.each([
    [
      'an invalid definition',
      () => ['run', 'bad.yaml'],
      2,
      /^bad\.yaml:4:5 UNKNOWN_FIELD .*\nbad\.yaml:7:17 UNKNOWN_DEPENDENCY .*\nmillrace: INVALID_DEFINITION: 2 errors in bad\.yaml; nothing was started\.$/,
    ],
    [
      'bad YAML',
      () => ['run', 'broken.yaml'],
      2,
      /^broken\.yaml:\d+:\d+ INVALID_YAML [^\n]+\nmillrace: INVALID_DEFINITION: 1 error in broken\.yaml; nothing was started\.$/,
    ],
    [
      'bad JSON',
      () => ['run', 'broken.json'],
      2,
      /^broken\.json:1:14 INVALID_JSON [^\n]+\nmillrace: INVALID_DEFINITION: 1 error in broken\.json; nothing was started\.$/,
    ],
    [
      'no file',
      () => ['run', './nowhere.yaml'],
      2,
      /^\.\/nowhere\.yaml FILE_NOT_FOUND there is no such file\nmillrace: /,
    ],
    [
      'an unknown pipeline',
      () => ['run', 'nobody'],
      2,
      /^millrace: PIPELINE_NOT_FOUND: There is no pipeline "nobody"\. `millrace pipelines` lists those that are there\.$/,
    ],
    [
      'an unknown run',
      () => ['status', 'aaaaaaaaaaaaaaaaaaaaaaaaaa'],
      1,
      /^millrace: RUN_NOT_FOUND: There is no run "a{26}"\. `millrace runs` lists those that are there\.$/,
    ],
    [
      'a wrong --input',
      () => ['run', 'hello', '--input', '{"name": }'],
      2,
      /^millrace: INVALID_INPUT: --input: line 1, column 10: [^\n]+$/,
    ],
    [
      'a port in use',
      () => ['dev', '--port', portOf(), '--data', 'other', '--functions', functions],
      2,
      /^millrace: PORT_IN_USE: port \d+ of 127\.0\.0\.1 is in use; [^\n]+$/,
    ],
    [
      'a data folder in use',
      () => ['dev', '--port', '0', '--data', 'data', '--functions', functions],
      2,
      /^millrace: DATA_IN_USE: [^\n]+Stop that host, or give this one another folder\.$/,
    ],
    [
      'a data folder of another version',
      () => ['dev', '--port', '0', '--data', 'older', '--functions', functions],
      2,
      /^millrace: DATA_VERSION: [^\n]+ format 99 [^\n]+Give it another folder, or delete this one\.$/,
    ],
    [
      'a data folder that is a file',
      () => ['dev', '--port', '0', '--data', 'bad.yaml', '--functions', functions],
      2,
      /^millrace: [A-Z_]+: [^\n]+bad\.yaml[^\n]*$/,
    ],
    [
      'a bad --chaos',
      () => ['dev', '--port', '0', '--chaos', 'drop-events=2'],
      2,
      /^millrace: INVALID_CHAOS: --chaos: "drop-events=2" [^\n]+a number from 0 to 1$/,
    ],
    [
      'a --chaos for a function that is not there',
      () => ['dev', '--port', '0', '--data', 'other', '--functions', functions, '--chaos', 'kill=x:0.1'],
      2,
      /^millrace: INVALID_CHAOS: --chaos: kill=x names no function; there are [^\n]+millrace-scheduler[^\n]*$/,
    ],
    [
      'no functions',
      () => ['dev', '--port', '0', '--functions', 'nowhere'],
      2,
      /^millrace: FUNCTIONS_NOT_FOUND: --functions [^\n]+nowhere: there is no such folder\. [^\n]+$/,
    ],
  ])('%s is told precisely', async (_what, argv, code, message) => {
    await mkdir(join(folder, 'older'), { recursive: true });
    await writeFile(join(folder, 'older/version.json'), '{"format": 99}');
    const ended = await millrace(...argv());
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: '' });
    expect(ended.stderr.trimEnd()).toMatch(message);
  });

  it('has stored nothing', async () => {
    const { items } = await json('pipelines');
    expect(items.map(({ name }: { name: string }) => name)).toEqual(['gated', 'hello']);
  });
});

describe('the end of a host', () => {
  it('by kill -9 in the middle of a run is no end of the run', async () => {
    const input = gateInput('cut');
    const { id } = await json('run', 'gated', '--input', JSON.stringify(input));
    await vi.waitFor(() => expect(existsSync(input.began)).toBe(true), { timeout: 60_000, interval: 20 });
    dev.child.kill('SIGKILL');
    await dev.ended;
    expect((await millrace('status', id)).stderr).toMatch(/^millrace: SERVER_UNREACHABLE: /);

    await startDev('--chaos', 'repeat-events=1');
    await vi.waitFor(() => expect(readFileSync(input.began, 'utf8')).toBe('xx'), { timeout: 60_000, interval: 20 });
    await writeFile(input.gate, '');
    await vi.waitFor(async () => expect(await get(`/v1/runs/${id}?wait=5`)).toMatchObject({ state: 'SUCCEEDED' }), {
      timeout: 60_000,
    });
    expect(await get(`/v1/runs/${id}/nodes`)).toMatchObject({ items: [{ attempt: 1 }, { attempt: 1 }] });
  });

  it('by a signal is clean, with the figures of its chaos', async () => {
    dev.child.kill('SIGTERM');
    const { code, stdout, stderr } = await dev.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [, last = ''] = stdout.trimEnd().split('\n');
    expect(JSON.parse(last)).toMatchObject({ chaos: { droppedEvents: 0, repeatedEvents: expect.any(Number) } });
  });
});
