import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import {
  type EnvironmentExit,
  type EnvironmentListener,
  listen,
  type OpenEnvironment,
} from '#local/lambda-environment.ts';
import type { RuntimeInvocation, RuntimeReport, RuntimeSettings } from '#local/lambda-runtime.ts';
import { LineSplitter } from '#local/line-splitter.ts';
import { type MemoryExcess, watchMemory } from '#local/memory-watch.ts';
import { createProcessReaper } from '#local/process-reaper.ts';

const functionError = z.object({
  errorType: z.string(),
  errorMessage: z.string(),
  trace: z.array(z.string()).optional(),
});

/** A user's code can write to the channel itself; only these are reports. */
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

/** Longest report: the largest response that a function may give, with every character escaped. */
const reportLine = { maxCharacters: 16 * 1024 * 1024 };
/**
 * How long output and the channel may stay open when their process is gone, since whoever else has them is not listened
 * to, and how long a process may live on without a channel.
 */
const leftOpenMs = 500;

/** One for all, since it ends with this process. */
const reaper = createProcessReaper();

/**
 * Opens processes of their own, each the first of its group: whatever the code does to itself, the host lives on, and what
 * it started goes with it. For users' functions.
 * @param entry what a process runs, `lambda-process.ts` as JavaScript
 */
export const processesFrom =
  (entry: URL): OpenEnvironment =>
  (settings, variables, listener) => {
    const child = spawn(process.execPath, [`--max-old-space-size=${settings.memoryMb}`, fileURLToPath(entry)], {
      cwd: settings.taskRoot,
      env: { ...variables },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    const channel = child.stdio[3] as Duplex;
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    for (const stream of streams) listen(stream, listener);
    readReports(channel, listener);
    channel.once('close', () => setTimeout(() => isAlive(child) && killGroup(child), leftOpenMs).unref());
    const watch = watchOver(child, settings.memoryMb);
    const gone = exitOf(child, listener).then(async (exit) => {
      killGroup(child);
      const memory = watch.stop();
      // The exit can be seen before the last reports are read; the channel ends after them.
      await closedOrLeft([channel]);
      void closedOrLeft(streams);
      listener.exited({ ...exit, ...(memory !== undefined && { memory }) });
    });
    send(channel, settings);
    return {
      invoke: (invocation) => send(channel, invocation),
      kill: () => {
        killGroup(child);
        return gone;
      },
    };
  };

/** Kills a process that takes too much memory, and one whose host is gone; `stop` says whether it was for its memory. */
function watchOver(child: ChildProcess, memoryMb: number): { stop(): MemoryExcess | undefined } {
  const { pid } = child;
  if (pid === undefined) return { stop: () => undefined };
  let memory: MemoryExcess | undefined;
  reaper.watch(pid);
  const unwatch = watchMemory(pid, memoryMb, (excess) => {
    memory = excess;
    killGroup(child);
  });
  return {
    stop() {
      unwatch();
      reaper.forget(pid);
      return memory;
    },
  };
}

function exitOf(child: ChildProcess, listener: EnvironmentListener): Promise<EnvironmentExit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(signal === null ? { code } : { code, signal }));
    child.once('error', (error) => {
      listener.wrote(error.message);
      if (child.pid === undefined) resolve({ code: 1 });
    });
  });
}

function isAlive({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

/** The process and those that it started, as far as they made no group of their own. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // There is nobody left in the group.
  }
}

function readReports(channel: Duplex, listener: EnvironmentListener): void {
  const lines = new LineSplitter((line) => {
    const report = runtimeReport.safeParse(jsonOf(line));
    if (report.success) listener.reported(report.data as RuntimeReport);
  }, reportLine);
  channel.setEncoding('utf8').on('data', (text: string) => lines.push(text));
  // A process that is just ending refuses what is sent to it; its exit says all.
  channel.on('error', () => {});
}

function send(channel: Duplex, message: RuntimeSettings | RuntimeInvocation): void {
  if (channel.writable) channel.write(`${JSON.stringify(message)}\n`);
}

async function closedOrLeft(streams: readonly (Readable | Duplex)[]): Promise<void> {
  const closed = streams.map(
    (stream) =>
      new Promise<void>((resolve) => {
        if (stream.closed) resolve();
        else stream.once('close', resolve);
      }),
  );
  await Promise.race([Promise.all(closed), sleep(leftOpenMs, undefined, { ref: false })]);
  for (const stream of streams) stream.destroy();
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
