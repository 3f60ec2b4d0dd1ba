/** MiniStack, an emulator of AWS that others wrote, as a process on loopback for the time of a test. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import { processesOf } from './function-processes.ts';
import { pythonEnvironment } from './python-environment.ts';

const run = promisify(execFile);

/** Longest that it takes to be ready (ms). */
const READY_MS = 60_000;

/** How it is started. */
export interface MiniStackOptions {
  /** Whether the roles of functions are enforced on the calls that they make. @default false */
  readonly auth?: boolean;
  /** Whether it speaks TLS, which policies of AWS may ask for; this process trusts its certificate then. @default false */
  readonly tls?: boolean;
}

/** An emulator that runs. */
export interface MiniStack {
  /** Address of all its services, `http://127.0.0.1:PORT` or `https://127.0.0.1:PORT`. */
  readonly url: string;
  /** Its port. */
  readonly port: number;
  /** What clients of it find in their environment: endpoint, region and keys, and nothing of the caller's own account. */
  readonly environment: Readonly<Record<string, string>>;
  /** What it has written so far, for messages of tests that fail. */
  log(): string;
  /** Ids of the processes that run a function, or wait for its next invocation. */
  processesOf(functionName: string): number[];
  /** Ends it, with the processes of its functions, and removes its files. */
  stop(): Promise<void>;
}

/**
 * Starts an emulator with nothing in it, on a free port.
 *
 * @throws PythonMissingError as `pythonEnvironment` does; Error with its output if it does not get ready
 */
export async function startMiniStack({ auth = false, tls = false }: MiniStackOptions = {}): Promise<MiniStack> {
  const python = await pythonEnvironment();
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'millrace-ministack-'));
  await writeNodeCommand(folder);
  if (tls) await makeCertificate(python, folder);
  const child = spawn(python, [join(import.meta.dirname, 'serve.py')], {
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...emulatorEnvironment({ port, folder, auth }), ...(tls && tlsEnvironment(folder)) },
  });
  const log = collectLog(child);
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  const stop = () => end(child, folder);
  try {
    await untilReady(child, url);
  } catch (error) {
    await stop();
    throw new Error(`MiniStack is not ready: ${(error as Error).message}\n${log()}`);
  }
  return {
    url,
    port,
    environment: { ...clientEnvironment(url), ...(tls && { NODE_EXTRA_CA_CERTS: join(folder, 'certificate.pem') }) },
    log,
    processesOf: (functionName) => processesOf(folder, functionName),
    stop,
  };
}

function emulatorEnvironment({ port, folder, auth }: { port: number; folder: string; auth: boolean }) {
  const { PATH = '', HOME = folder, LANG = 'C.UTF-8' } = process.env;
  return {
    PATH: [join(folder, 'bin'), PATH].join(delimiter),
    HOME,
    LANG,
    TMPDIR: folder,
    PYTHONUNBUFFERED: '1',
    GATEWAY_PORT: String(port),
    BIND_HOST: '127.0.0.1',
    LAMBDA_EXECUTOR: 'local',
    STATE_DIR: join(folder, 'state'),
    S3_DATA_DIR: join(folder, 's3'),
    AUTH: String(auth),
    // It would listen on a fixed port of every network interface.
    IOT_MTLS_ENABLED: 'false',
  };
}

/** Functions run on the `node` that is found first: the one that runs this test, which then knows names below `localhost`. */
async function writeNodeCommand(folder: string): Promise<void> {
  const names = join(import.meta.dirname, 'loopback-names.mjs');
  await mkdir(join(folder, 'bin'));
  const script = `#!/bin/sh\nexec "${process.execPath}" --import "${names}" "$@"\n`;
  await writeFile(join(folder, 'bin', 'node'), script, { mode: 0o755 });
}

async function makeCertificate(python: string, folder: string): Promise<void> {
  await run(python, [join(import.meta.dirname, 'certificate.py'), folder]);
  const certificate = await readFile(join(folder, 'certificate.pem'), 'utf8');
  setDefaultCACertificates([...getCACertificates('default'), certificate]);
}

function tlsEnvironment(folder: string): Readonly<Record<string, string>> {
  return {
    USE_SSL: '1',
    MINISTACK_SSL_CERT: join(folder, 'certificate.pem'),
    MINISTACK_SSL_KEY: join(folder, 'key.pem'),
  };
}

function clientEnvironment(url: string): Readonly<Record<string, string>> {
  return {
    AWS_ENDPOINT_URL: url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function collectLog(child: ChildProcess): () => string {
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => lines.push(chunk.toString()));
  child.on('error', (error) => lines.push(error.message));
  return () => lines.join('');
}

async function untilReady(child: ChildProcess, url: string): Promise<void> {
  const until = Date.now() + READY_MS;
  while (Date.now() < until) {
    if (child.exitCode !== null || child.pid === undefined) throw new Error(`it ended with ${child.exitCode}`);
    const answer = await fetch(`${url}/_ministack/ready`).catch(() => undefined);
    if (answer?.ok) return;
    await delay(50);
  }
  throw new Error(`it did not answer within ${READY_MS / 1000} s`);
}

/** Its functions' processes are in its group, so they end with it. */
async function end(child: ChildProcess, folder: string): Promise<void> {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    process.kill(-child.pid, 'SIGKILL');
    await ended;
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
