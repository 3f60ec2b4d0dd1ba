import type { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import type { RuntimeInvocation, RuntimeReport, RuntimeSettings } from '#local/lambda-runtime.ts';
import { LineSplitter } from '#local/line-splitter.ts';
import type { MemoryExcess } from '#local/memory-watch.ts';

/** How an environment ended: its exit code, or the signal that killed it, and whether it was for its memory. */
export type EnvironmentExit = {
  readonly code: number | null;
  readonly signal?: string;
  readonly memory?: MemoryExcess;
};

/** What an environment tells the pool. `exited` is the last thing that it says. */
export type EnvironmentListener = {
  reported(report: RuntimeReport): void;
  /** One line of output, of either stream, without its end. */
  wrote(line: string): void;
  exited(exit: EnvironmentExit): void;
};

/** One Lambda execution environment: a worker thread or a process that runs one invocation at a time. */
export type Environment = {
  /** Hands over an invocation; only after `ready`, and only when none is under way. */
  invoke(invocation: RuntimeInvocation): void;
  /** Ends it at once, wherever its code is; `exited` follows. Resolves when it is gone. */
  kill(): Promise<void>;
};

/** Opens an environment; it reports `ready` or `unusable` when the handler has been loaded. */
export type OpenEnvironment = (
  settings: RuntimeSettings,
  variables: Readonly<Record<string, string>>,
  listener: EnvironmentListener,
) => Environment;

/** A thread's young generation would grow to 100 MB and more; passes are as fast with less. */
const youngMegabytes = 12;

/**
 * Opens worker threads: cheap, but they share the host's fate if native code in them crashes. For our own functions.
 * @param entry what a thread runs, `lambda-worker.ts` as JavaScript
 */
export const threadsFrom =
  (entry: URL): OpenEnvironment =>
  (settings, variables, listener) => {
    const worker = new Worker(entry, {
      workerData: settings,
      env: { ...variables },
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: settings.memoryMb, maxYoungGenerationSizeMb: youngMegabytes },
    });
    worker.on('message', (report: RuntimeReport) => listener.reported(report));
    worker.on('error', (error) => listener.wrote(error.stack ?? error.message));
    worker.on('exit', (code) => listener.exited({ code }));
    listen(worker.stdout, listener);
    listen(worker.stderr, listener);
    return {
      invoke: (invocation) => worker.postMessage(invocation),
      kill: async () => {
        await worker.terminate();
      },
    };
  };

/** Hands a stream of output to a listener, line by line. */
export function listen(stream: Readable, listener: EnvironmentListener): void {
  stream.setEncoding('utf8');
  const lines = new LineSplitter((line) => listener.wrote(line));
  stream.on('data', (text: string) => lines.push(text));
  stream.on('close', () => lines.end());
}
