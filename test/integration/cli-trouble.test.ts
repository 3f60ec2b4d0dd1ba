import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { pipelines, runMillrace, startMillrace } from './cli-process.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cli-trouble-'));
  await writeFile(join(folder, 'latin1.yaml'), Buffer.from('name: caf\xe9\nnodes: []\n', 'latin1'));
  const large = await open(join(folder, 'large.json'), 'w');
  await large.truncate(100 * 1024 * 1024);
  await large.close();
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** A server that answers everything alike. */
async function serve(status: number, type: string, body: string): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status, { 'content-type': type }).end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Runs a command line whose one line on standard error says what is wrong. */
async function trouble(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { code, stdout, stderr } = await runMillrace(argv, { cwd: folder, env });
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^[^\n]+\n$/);
  return { code, stderr: stderr.trimEnd() };
}

describe('a server that cannot be used is told in one line', () => {
  it('an address that is none', async () => {
    expect(await trouble(['runs', '--url', 'nonsense'])).toEqual({
      code: 2,
      stderr: 'millrace: INVALID_URL: --url: "nonsense" is no address. It takes one such as http://127.0.0.1:8787.',
    });
  });

  it('nobody there, soon', async () => {
    const begun = Date.now();
    const { code, stderr } = await trouble(['runs', '--url', 'http://127.0.0.1:1']);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^millrace: SERVER_UNREACHABLE: nothing answers at http:\/\/127\.0\.0\.1:1 \(.+\)\. Start a server/,
    );
    expect(Date.now() - begun).toBeLessThan(15_000);
  });

  it.each([
    [401, '{"message":"Unauthorized"}', 'NOT_AUTHENTICATED'],
    [403, '{"message":"Forbidden"}', 'FORBIDDEN'],
    [403, '{"message":"The security token included in the request is expired"}', 'FORBIDDEN'],
    [403, '{"Message":"User: anonymous is not authorized to perform: execute-api:Invoke"}', 'FORBIDDEN'],
  ])('credentials that are not taken: %s %s', async (status, body, codeName) => {
    const url = await serve(status, 'application/json', body);
    const { code, stderr } = await trouble(['pipelines', '--url', url]);
    expect(code).toBe(1);
    expect(stderr).toContain(`millrace: ${codeName}: GET ${url}/v1/pipelines?limit=50: ${status}: `);
    expect(stderr).toContain('Are the credentials those of the right account, not expired,');
  });

  it('credentials that are not there', async () => {
    const env = {
      HOME: folder,
      AWS_CONFIG_FILE: join(folder, 'none'),
      AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none'),
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_ACCESS_KEY_ID: '',
      AWS_SECRET_ACCESS_KEY: '',
      AWS_PROFILE: '',
    };
    const { code, stderr } = await trouble(
      ['runs', '--url', 'https://abc.execute-api.eu-central-1.amazonaws.com'],
      env,
    );
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^millrace: NO_CREDENTIALS: no AWS credentials to sign with: .+ Log in/),
    });
  });

  it.each([
    ['text/html', '<!doctype html><title>Hello</title>'],
    ['application/json', '{"hello":"world"}'],
    ['application/json', '[]'],
    ['application/json', '{"items":[{"id":7}]}'],
  ])('something else: %s %s', async (type, body) => {
    const url = await serve(200, type, body);
    const { code, stderr } = await trouble(['runs', '--url', url]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^millrace: NOT_MILLRACE: this is no Millrace API: GET http.+ answered .+ Name the address of a Mill/,
    );
  });
});

describe('a file that cannot be used is told in one line', () => {
  it.each([
    ['latin1.yaml', 'INVALID_UNICODE the file is not UTF-8 text'],
    ['large.json', 'TOO_LARGE the file is larger than 4 MB, and is not read'],
  ])('%s', async (file, message) => {
    const checked = await runMillrace(['validate', file], { cwd: folder });
    expect(checked).toEqual({ code: 2, stdout: `${file} ${message}\n`, stderr: '' });
    const { code, stdout, stderr } = await runMillrace(['run', file], { cwd: folder });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(`${file} ${message}\nmillrace: INVALID_DEFINITION: 1 error in ${file}; nothing was started.\n`);
  });

  it('as an input, too', async () => {
    expect(await trouble(['run', 'etl', '--input', '@large.json'])).toEqual({
      code: 2,
      stderr: 'millrace: INVALID_INPUT: --input @large.json: the file is larger than 4 MB, and is not read.',
    });
  });
});

describe('a reader that has seen enough', () => {
  it('is no error', async () => {
    const started = startMillrace(['--help'], { cwd: folder });
    started.child.stdout?.destroy();
    const [code] = await once(started.child, 'exit');
    expect(code).toBe(0);
    const piped = spawnSync(
      'sh',
      [
        '-c',
        `"$0" "$1" rerun --help | head -n 1`,
        process.execPath,
        join(import.meta.dirname, '../../bin/millrace.js'),
      ],
      { encoding: 'utf8' },
    );
    expect({ status: piped.status, stderr: piped.stderr }).toEqual({ status: 0, stderr: '' });
  });
});

describe('Ctrl-C', () => {
  it('twice leaves at once, though the run does not end', async () => {
    const input = { began: join(folder, 'began'), gate: join(folder, 'never') };
    const chaos = ['--chaos', 'throttle=StopExecution:1'];
    const argv = ['run', 'gated.yaml', '--json', '--input', JSON.stringify(input), ...chaos];
    const started = startMillrace(argv, { cwd: pipelines, env: { TMPDIR: folder } });
    await vi.waitFor(() => expect(existsSync(input.began)).toBe(true), { timeout: 60_000, interval: 20 });
    started.child.kill('SIGINT');
    // What comes at once is the same press: a terminal, and npm, may send it twice.
    const again = setInterval(() => started.child.kill('SIGINT'), 500);
    const ended = await started.ended;
    clearInterval(again);
    expect(ended).toEqual({
      code: 130,
      stdout: '',
      stderr: 'Stopping the run; press Ctrl-C again to leave at once.\n',
    });
    expect((await readdir(folder)).filter((name) => name.startsWith('millrace-'))).toEqual([]);
  });
});

/** Of util-linux: it gives a command a terminal. */
const recorder = 'script';
const hasScript = spawnSync(recorder, ['--version']).error === undefined;

describe.skipIf(!hasScript)('a terminal', () => {
  /** What `millrace` writes on a terminal. */
  function onTerminal(argv: readonly string[], env: Readonly<Record<string, string>>, columns = 80) {
    const binary = join(import.meta.dirname, '../../bin/millrace.js');
    const words = [process.execPath, binary, ...argv].map((word) => `'${word}'`).join(' ');
    const command = `stty cols ${columns} rows 20; ${words}`;
    const { NO_COLOR: _not, MILLRACE_URL: _nor, ...inherited } = process.env;
    return spawnSync(recorder, ['-qec', command, '/dev/null'], {
      cwd: pipelines,
      env: { ...inherited, TERM: 'xterm', TMPDIR: folder, ...env },
      encoding: 'utf8',
      input: '',
    });
  }

  it('has colours, unless NO_COLOR says otherwise', () => {
    const colour = '\u001B[32m';
    expect(onTerminal(['validate', 'hello.yaml'], {}).stdout).toContain(`${colour}valid`);
    expect(onTerminal(['validate', 'hello.yaml'], { NO_COLOR: '1' }).stdout).not.toContain('\u001B[');
  });

  it('may be narrow', () => {
    const { status, stdout } = onTerminal(['run', 'hello.yaml', '--input', '{"name":"Ada"}'], { NO_COLOR: '1' }, 20);
    expect(status).toBe(0);
    expect(stdout).toContain('HELLO, ADA!');
  });
});
