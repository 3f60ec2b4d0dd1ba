/** Deaths of functions' processes, at moments when they are at work. */
import { setTimeout as delay } from 'node:timers/promises';
import type { MiniStack } from './ministack.ts';

/** Longest that a function takes to be invoked (ms). */
const INVOKED_MS = 60_000;

/**
 * Kills all processes of a function that `act` invokes.
 *
 * @param afterMs how long after the call, or after the first of them is there where none was
 */
export async function killAtWork<T>(
  emulator: MiniStack,
  functionName: string,
  act: () => Promise<T>,
  afterMs: number,
): Promise<T> {
  const acted = act();
  await untilProcess(emulator, functionName);
  await delay(afterMs);
  for (const pid of emulator.processesOf(functionName)) kill(pid);
  return await acted;
}

/** How many batches of a queue ended with the process that worked on them; the emulator says so. */
export function lostBatches(emulator: MiniStack, functionName: string): number {
  return emulator.log().split(`ESM: Lambda ${functionName} failed processing SQS batch`).length - 1;
}

async function untilProcess(emulator: MiniStack, functionName: string): Promise<void> {
  const until = Date.now() + INVOKED_MS;
  while (emulator.processesOf(functionName).length === 0) {
    if (Date.now() > until) throw new Error(`${functionName} was not invoked within ${INVOKED_MS / 1000} s`);
    await delay(5);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
