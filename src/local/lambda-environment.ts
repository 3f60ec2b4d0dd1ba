import { fork } from 'node:child_process';
import type { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { LineSplitter } from '#local/function-log.ts';
import type { RuntimeInvocation, RuntimeReport, RuntimeSettings } from '#local/lambda-runtime.ts';

/** How an environment ended: its exit code, or the signal that killed it. */
export type EnvironmentExit = { readonly code: number | null; readonly signal?: string };

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

const functionError = z.object({
  errorType: z.string(),
  errorMessage: z.string(),
  trace: z.array(z.string()).optional(),
});

/** A user's code can send messages of its own over the channel; only these are reports. */
const runtimeReport = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), ms: z.number() }),
  z.object({ kind: z.literal('unusable'), error: functionError }),
  z.object({ kind: z.literal('succeeded'), requestId: z.string(), payload: z.string(), ms: z.number() }),
  z.object({
    kind: z.literal('failed'),
    requestId: z.string(),
    error: functionError,
    ms: z.number(),
    isFatal: z.boolean().optional(),
  }),
]);

/**
 * Opens processes of their own: whatever the code does to itself, the host lives on. For users' functions.
 * @param entry what a process runs, `lambda-process.ts` as JavaScript
 */
export const processesFrom =
  (entry: URL): OpenEnvironment =>
  (settings, variables, listener) => {
    const child = fork(entry, {
      cwd: settings.taskRoot,
      env: { ...variables },
      execArgv: [`--max-old-space-size=${settings.memoryMb}`],
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const exited = new Promise<EnvironmentExit>((resolve) => {
      child.once('exit', (code, signal) => resolve(signal === null ? { code } : { code, signal }));
      child.once('error', (error) => {
        listener.wrote(error.message);
        if (child.pid === undefined) resolve({ code: 1 });
      });
    });
    // The exit can be seen before the last reports are read; the channel ends after them.
    const channelEnded = new Promise<void>((resolve) => {
      child.once('disconnect', resolve);
      if (!child.connected) resolve();
    });
    const gone = Promise.all([exited, channelEnded]).then(([exit]) => listener.exited(exit));
    child.on('message', (message) => {
      const report = runtimeReport.safeParse(message);
      if (report.success) listener.reported(report.data as RuntimeReport);
    });
    if (child.stdout !== null) listen(child.stdout, listener);
    if (child.stderr !== null) listen(child.stderr, listener);
    // A process that is just ending refuses what is sent to it; its exit says all.
    const ignoreClosedChannel = () => {};
    child.send(settings, ignoreClosedChannel);
    return {
      invoke: (invocation) => child.send(invocation, ignoreClosedChannel),
      kill: () => {
        child.kill('SIGKILL');
        return gone;
      },
    };
  };

function listen(stream: Readable, listener: EnvironmentListener): void {
  stream.setEncoding('utf8');
  const lines = new LineSplitter((line) => listener.wrote(line));
  stream.on('data', (text: string) => lines.push(text));
  stream.on('end', () => lines.end());
}
