import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { BenchMessage, Figure } from './bench.ts';

/**
 * Runs a bench in a process of its own, so that none finds memory or compiled code of another.
 * @throws Error where it ends without figures
 */
export async function measureBench(name: string, say: (progress: string) => void): Promise<readonly Figure[]> {
  const child = fork(fileURLToPath(new URL('bench-process.ts', import.meta.url)), [name]);
  let figures: readonly Figure[] | undefined;
  child.on('message', (message: BenchMessage) => {
    if ('figures' in message) figures = message.figures;
    else say(message.progress);
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (figures === undefined) throw new Error(`the bench ${name} ended with code ${code}`);
  return figures;
}
