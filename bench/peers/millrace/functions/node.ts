/** The node of the run that is killed: it says when it starts and when it ends, and may take its time. */
import { appendFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the definition gives a node. */
interface Work {
  readonly number: number;
  readonly log: string;
  readonly ms: number;
}

export const handler = async ({ number, log, ms }: Work): Promise<{ readonly done: true }> => {
  await appendFile(log, `start ${number} ${Date.now()}\n`);
  await sleep(ms);
  await appendFile(log, `end ${number} ${Date.now()}\n`);
  return { done: true };
};
