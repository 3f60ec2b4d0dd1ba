/** Deaths of functions' processes, at moments when they are at work. */
import { setTimeout as delay } from 'node:timers/promises';
import type { MiniStack } from './ministack.ts';

/** Longest that a function takes to be invoked (ms). */
const INVOKED_MS = 60_000;

/**
 * Kills the process of a function that `act` has invoked: one that is made for this invocation, since those that wait for
 * their next one are killed before.
 *
 * @param afterMs how long it has lived then
 */
export async function killAtWork<T>(
  emulator: MiniStack,
  functionName: string,
  act: () => Promise<T>,
  afterMs: number,
): Promise<T> {
  for (const pid of emulator.processesOf(functionName)) process.kill(pid, 'SIGKILL');
  const acted = act();
  const pid = await untilProcess(emulator, functionName);
  await delay(afterMs);
  process.kill(pid, 'SIGKILL');
  return await acted;
}

async function untilProcess(emulator: MiniStack, functionName: string): Promise<number> {
  const until = Date.now() + INVOKED_MS;
  while (Date.now() < until) {
    const [pid] = emulator.processesOf(functionName);
    if (pid !== undefined) return pid;
    await delay(5);
  }
  throw new Error(`${functionName} was not invoked within ${INVOKED_MS / 1000} s`);
}
