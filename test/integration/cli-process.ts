import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

/** Pipelines, and the functions that they call, at a fixed place: so the host's template is synthesized once. */
export const pipelines = join(import.meta.dirname, '../fixtures/cli');

const binary = join(import.meta.dirname, '../../bin/millrace.js');

/** How a process ended, and what it wrote. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command line in a process of its own. */
export interface Started {
  readonly child: ChildProcess;
  /** Its first line on standard output; fails if it ends without one. */
  readonly firstLine: Promise<string>;
  readonly ended: Promise<Ended>;
}

/** What a process gets besides its arguments. */
export interface ProcessOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** @default the Node that runs the tests */
  readonly node?: string;
}

/** Starts `millrace` as a user would. */
export function startMillrace(argv: readonly string[], { cwd, env, node = process.execPath }: ProcessOptions): Started {
  const { MILLRACE_URL: _not, ...inherited } = process.env;
  const child = spawn(node, [binary, ...argv], {
    cwd,
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { stdout: '', stderr: '' };
  const firstLine = Promise.withResolvers<string>();
  // Whoever does not ask for it need not hear that there was none.
  firstLine.promise.catch(() => {});
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written.stdout += text;
    const end = written.stdout.indexOf('\n');
    if (end >= 0) firstLine.resolve(written.stdout.slice(0, end));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    written.stderr += text;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code) => {
      firstLine.reject(new Error(`ended with code ${code}: ${written.stderr}`));
      resolve({ code, ...written });
    });
  });
  return { child, firstLine: firstLine.promise, ended };
}

/** Runs `millrace` to its end. */
export function runMillrace(argv: readonly string[], options: ProcessOptions): Promise<Ended> {
  return startMillrace(argv, options).ended;
}
