import { setFlagsFromString } from 'node:v8';

/**
 * How much the heap of the host and of each of its threads may grow, in percent of what is in use, before it is collected.
 * V8 by itself lets it become several times as large while there is room, which a machine with other work on it has not.
 */
const growingPercent = 30;

/** Keeps the heaps of this process close to what is in use in them, for those that are there and those that come. */
export function keepHeapsSmall(): void {
  // What the command line says of the main thread's young generation would go before the limits that each thread is given.
  setFlagsFromString('--max-semi-space-size=0');
  setFlagsFromString(`--heap-growing-percent=${growingPercent}`);
}
