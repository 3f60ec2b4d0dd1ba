/** States in the order in which they are counted up, from what is well to what has not begun. */
const ORDER = [
  'SUCCEEDED',
  'SKIPPED',
  'FAILED',
  'TIMED_OUT',
  'ABORTED',
  'UPSTREAM_FAILED',
  'RUNNING',
  'RETRY_WAIT',
  'QUEUED',
  'PENDING',
];

/** Nodes by state in words: `3 SUCCEEDED, 1 RUNNING`. */
export function countsText(counts: Readonly<Record<string, number | undefined>>): string {
  const place = (state: string) => (ORDER.indexOf(state) + ORDER.length + 1) % (ORDER.length + 1);
  return Object.entries(counts)
    .filter((entry): entry is [string, number] => (entry[1] ?? 0) > 0)
    .sort(([a], [b]) => place(a) - place(b))
    .map(([state, count]) => `${number(count)} ${state}`)
    .join(', ');
}

/** A count with thousands separators. */
export function number(value: number, fractionDigits = 0): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: fractionDigits });
}

/** A count with its noun: `1 node`, `12 nodes`. */
export function counted(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? '' : 's'}`;
}
