import type { MapProgress } from '#client/index.ts';
import { counted, number } from './counts-text.ts';

/** States of items that have not come to an end of their own: not yet, or never. */
const NOT_OVER = ['PENDING', 'QUEUED', 'RUNNING', 'RETRY_WAIT', 'ABORTED'];
const FAILED = ['FAILED', 'TIMED_OUT'];
/** Ranges of items that are named one by one. */
const NAMED_RANGES = 5;

/** How far a map is, in a few words: `38/100 items, 2 failed`. */
export function mapText({ total, counts }: MapProgress): string {
  const over = total - sumOf(counts, NOT_OVER);
  const failed = sumOf(counts, FAILED);
  const queued = sumOf(counts, ['QUEUED']);
  const retrying = sumOf(counts, ['RETRY_WAIT']);
  return [
    `${number(over)}/${counted(total, 'item')}`,
    ...(failed > 0 ? [`${number(failed)} failed`] : []),
    ...(queued > 0 ? [`${number(queued)} ready again`] : []),
    ...(retrying > 0 ? [`${number(retrying)} to be tried again`] : []),
  ].join(', ');
}

function sumOf(counts: Readonly<Record<string, number | undefined>>, states: readonly string[]): number {
  return states.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}

/** Items by their indices, rising: `item 3`, `items 0–37, 41`. */
export function itemsText(items: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const item of items) {
    const range = ranges.at(-1);
    if (range?.[1] === item - 1) range[1] = item;
    else ranges.push([item, item]);
  }
  const shown = ranges
    .slice(0, NAMED_RANGES)
    .map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`));
  const more = ranges.length > NAMED_RANGES ? [`… ${number(items.length)} in all`] : [];
  return `item${items.length === 1 ? '' : 's'} ${[...shown, ...more].join(', ')}`;
}
