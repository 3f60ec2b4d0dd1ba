/** Processes of peers: started, awaited, killed, each by its own id. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** How much of what a process says is kept to explain why it failed. */
const KEPT_CHARACTERS = 4_000;
/** A process that has not ended so long after a polite signal is killed (ms). */
const PATIENCE_MS = 15_000;

/** A process of a peer. */
export interface PeerProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Lines of its standard output, as they come. */
  onLine(listener: (line: string) => void): void;
  /** Waits for a line, of either stream, that matches. @throws Error where the process ends without one */
  sees(pattern: RegExp): Promise<void>;
  /** Sends a signal, to the whole group of a `detached` process. */
  send(signal: NodeJS.Signals): void;
  /** Sends a signal and waits for the end; after 15 s it kills. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** What was started and has not ended. */
const alive = new Set<PeerProcess>();
// However this process ends, short of a kill, nothing that it started stays behind.
process.once('exit', killLeft);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** Kills what is left of a peer, such as of one that could not be opened. */
export function killLeft(): void {
  for (const each of alive) each.send('SIGKILL');
  alive.clear();
}

/** Starts a process whose output is read. It gets no variable of Millrace, and none reports home. */
export function startProcess(command: string, args: readonly string[], options: SpawnOptions = {}): PeerProcess {
  const child = spawn(command, args, {
    ...options,
    env: quietEnvironment(options.env),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const listeners = new Set<(line: string) => void>();
  const watchers = new Set<(line: string) => void>();
  let said = '';
  const exit = once(child, 'exit');
  // A process that cannot be started is told to whoever waits for one of its lines.
  exit.catch(() => {});
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      said = `${said}${line}\n`.slice(-KEPT_CHARACTERS);
      for (const watch of watchers) watch(line);
      if (stream === child.stdout) for (const listen of listeners) listen(line);
    });
  }
  const started: PeerProcess = {
    child,
    get pid() {
      return child.pid ?? Number.NaN;
    },
    onLine: (listener) => void listeners.add(listener),
    async sees(pattern) {
      const seen = Promise.withResolvers<void>();
      const watch = (line: string) => pattern.test(line) && seen.resolve();
      watchers.add(watch);
      const ended = exit.then(() => Promise.reject(new Error(`${command} ended:\n${said}`)));
      await Promise.race([seen.promise, ended]).finally(() => watchers.delete(watch));
    },
    send(signal) {
      if (options.detached && child.pid !== undefined) signalGroup(child.pid, signal);
      else child.kill(signal);
    },
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      started.send(signal);
      const late = setTimeout(() => started.send('SIGKILL'), PATIENCE_MS);
      await exit;
      clearTimeout(late);
    },
  };
  alive.add(started);
  child.once('exit', () => alive.delete(started));
  return started;
}

function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // The group has ended in the meantime.
  }
}

/**
 * Runs a command to its end, with this process's environment, in which registries and proxies are set.
 * @returns its standard output
 * @throws Error with the end of what it said where it fails
 */
export async function run(command: string, args: readonly string[], options: SpawnOptions = {}): Promise<string> {
  const env = { ...process.env, DO_NOT_TRACK: '1', ...options.env };
  const child = spawn(command, args, { ...options, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  let written = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-KEPT_CHARACTERS);
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with code ${code}:\n${said}`);
  return written.trim();
}

/** A port of this machine that nobody listens on just now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Waits until something answers a request at all. @throws Error after a time (ms) */
export async function untilAnswers(url: string, withinMs = 60_000): Promise<void> {
  const begun = performance.now();
  while (
    !(await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (performance.now() - begun > withinMs) throw new Error(`${url} does not answer`);
    await sleep(50);
  }
}

function quietEnvironment(own: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { PATH, HOME, LANG, TMPDIR } = process.env;
  return { PATH, HOME, LANG, TMPDIR, DO_NOT_TRACK: '1', ...own };
}
