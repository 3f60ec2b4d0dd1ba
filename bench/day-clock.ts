/** Puts a virtual clock under code that reads the monotonic one, as the token buckets of the call allowance do. */

/**
 * Does something while `performance.now()` answers a virtual time (ms). Nothing else may run in the process meanwhile.
 * @throws whatever `act` throws
 */
export async function withMonotonicClock<T>(now: () => number, act: () => Promise<T>): Promise<T> {
  const real = performance.now;
  performance.now = now;
  try {
    return await act();
  } finally {
    performance.now = real;
  }
}
