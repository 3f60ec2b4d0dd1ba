/** Gives an output that lists do not show. */
export async function handler() {
  return 'x'.repeat(100_000);
}
