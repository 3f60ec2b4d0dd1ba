/**
 * Turns schemathesis (PyPI) loose on a development host of its own, with pipelines and runs in it that its paths hit:
 * `SCHEMATHESIS=/path/to/schemathesis npm run fuzz`. Further arguments go to `schemathesis run`: `--max-examples 20`,
 * `--seed 1`. Ends with its exit code, with 1 where the host has come to harm, and with 2 where there is no schemathesis.
 * The host's folder, with its logs, stays where anything failed.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { toConfig } from './config.ts';
import { seedHost } from './seed.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** All but one: no schema can say what a cursor, an expression or a revision has to be, so the API refuses more than it. */
const CHECKS = ['--checks', 'all', '--exclude-checks', 'positive_data_acceptance'];
/** What the function has on AWS. A machine that does other work beside is slower than that. */
const RESPONSE_SECONDS = '30';

const COMMAND = process.env['SCHEMATHESIS'] ?? 'schemathesis';

process.exitCode = isThere(COMMAND) ? await fuzz() : 2;

function isThere(command: string): boolean {
  const { status } = spawnSync(command, ['--version'], { stdio: 'ignore' });
  if (status === 0) return true;
  console.error(
    `${command} does not run. Install schemathesis and name it in SCHEMATHESIS: see CONTRIBUTING.md, Fuzzing the API.`,
  );
  return false;
}

async function fuzz(): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), 'millrace-schemathesis-'));
  const host = startHost(path.join(folder, 'data'));
  let code = 1;
  try {
    code = await attack(await urlOf(host), folder);
  } finally {
    host.kill('SIGTERM');
    if (host.exitCode === null) await once(host, 'exit');
    if (code === 0) await rm(folder, { recursive: true, force: true });
    else console.error(`The host's state and logs are in ${folder}.`);
  }
  return code;
}

async function attack(url: string, folder: string): Promise<number> {
  const there = await seedHost(url);
  await writeFile(path.join(folder, 'schemathesis.toml'), toConfig(there));
  const argv = [
    'run',
    `${url}/v1/openapi.json`,
    ...CHECKS,
    '--max-response-time',
    RESPONSE_SECONDS,
    ...process.argv.slice(2),
  ];
  const tool = spawn(COMMAND, argv, { cwd: folder, stdio: 'inherit' });
  const [code] = (await once(tool, 'exit')) as [number | null];
  const health = await fetch(`${url}/v1/health`);
  return health.ok ? (code ?? 1) : 1;
}

function startHost(data: string): ChildProcess {
  const argv = ['dev', '--port', '0', '--json', '--data', data, '--functions', 'test/schemathesis/functions'];
  return spawn(process.execPath, ['bin/millrace.js', ...argv], { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
}

async function urlOf({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new Error('the host has no output');
  const lines = createInterface({ input: stdout });
  for await (const line of lines) {
    // The host says more on this stream later: it has to go on flowing.
    stdout.resume();
    return z.object({ url: z.string() }).parse(JSON.parse(line)).url;
  }
  throw new Error('the host ended before it was ready');
}
