/**
 * Waits until every invocation stands at a port call or is over: until no microtask is left. Node looks at its queue
 * of next ticks only then, and that costs a tenth of a turn of the event loop.
 */
export function settle(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
