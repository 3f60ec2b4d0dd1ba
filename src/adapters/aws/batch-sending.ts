import { setTimeout as delay } from 'node:timers/promises';

/** How often a batch is sent in all, and the wait before it is sent again (ms), doubled each time. */
const MAX_SENDS = 5;
const FIRST_WAIT_MS = 50;

/** An entry that a service did not take, in words. */
export interface FailedEntry<Entry> {
  readonly entry: Entry;
  readonly why: string;
}

/**
 * Sends a batch, then what was not taken of it, and so on.
 * @param send gives the entries that were not taken
 * @throws Error where some are not taken in the end
 */
export async function sendBatch<Entry>(
  what: string,
  entries: readonly Entry[],
  send: (entries: readonly Entry[]) => Promise<readonly FailedEntry<Entry>[]>,
): Promise<void> {
  let failed = await send(entries);
  for (let sends = 1; failed.length > 0 && sends < MAX_SENDS; sends++) {
    await delay(FIRST_WAIT_MS * 2 ** (sends - 1));
    failed = await send(failed.map(({ entry }) => entry));
  }
  if (failed[0]) throw new Error(`${failed.length} of ${entries.length} ${what} were not taken: ${failed[0].why}`);
}
