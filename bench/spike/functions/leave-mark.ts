/** A node that writes down that it began, and ends a while later: how often each attempt ran is in the file. */
import { appendFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'aws-lambda';

/** What it is told. */
interface Order {
  /** Where to write. */
  readonly file: string;
  /** How long it takes (ms). */
  readonly ms: number;
}

/** Begins, writes `node attempt`, and ends. */
export const handler = async ({ file, ms }: Order, context: Context): Promise<{ readonly done: true }> => {
  const { node, attempt } = context.clientContext as unknown as { node: string; attempt: number };
  await appendFile(file, `${node} ${attempt}\n`);
  await sleep(ms);
  return { done: true };
};
