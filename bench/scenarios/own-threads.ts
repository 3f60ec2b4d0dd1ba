/** The threads that our own functions run in on the development host: what they take of the processor, how many work at once. */
import type { Worker } from 'node:worker_threads';
import { z } from 'zod';

/** What the threads have done since they were there. */
export interface ThreadUse {
  /** Time of the processor, of all threads (ms). */
  readonly cpuMs: number;
}

/** Looks at every thread that is made from now on. */
export interface OwnThreads {
  use(): Promise<ThreadUse>;
  /** Most invocations with messages of a queue at the same time, since it was last asked. */
  takeMostAtOnce(): number;
}

const invocation = z.object({ requestId: z.string(), event: z.string().startsWith('{"Records"') });
const outcome = z.object({ requestId: z.string() });

/** Begins to watch the threads of this process. */
export function watchOwnThreads(): OwnThreads {
  const threads = new Set<Worker>();
  const underWay = new Set<string>();
  let most = 0;
  let endedMs = 0;
  process.on('worker', (thread) => {
    threads.add(thread);
    const post = thread.postMessage.bind(thread);
    thread.postMessage = (message: unknown, transfer?: Parameters<Worker['postMessage']>[1]) => {
      const asked = invocation.safeParse(message);
      if (asked.success) underWay.add(asked.data.requestId);
      most = Math.max(most, underWay.size);
      post(message, transfer as never);
    };
    thread.on('message', (message: unknown) => {
      const told = outcome.safeParse(message);
      if (told.success) underWay.delete(told.data.requestId);
    });
    let lastMs = 0;
    const note = async () => {
      lastMs = await cpuMsOf(thread).catch(() => lastMs);
      return lastMs;
    };
    looks.set(thread, note);
    thread.on('exit', () => {
      threads.delete(thread);
      endedMs += lastMs;
    });
  });
  const looks = new Map<Worker, () => Promise<number>>();
  return {
    async use() {
      const running = await Promise.all([...threads].map((thread) => looks.get(thread)?.() ?? 0));
      return { cpuMs: endedMs + running.reduce((sum, ms) => sum + ms, 0) };
    },
    takeMostAtOnce() {
      const taken = most;
      most = underWay.size;
      return taken;
    },
  };
}

async function cpuMsOf(thread: Worker): Promise<number> {
  const { user, system } = await thread.cpuUsage();
  return (user + system) / 1000;
}
