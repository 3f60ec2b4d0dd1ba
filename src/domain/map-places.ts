/** Where a map stands on its list: items are taken in order, and those that a re-run took over are passed by. */
import type { MapState } from './run.ts';

/** Whether an item was taken off the list, or is over already. */
export function isTaken({ next, ahead = [] }: MapState, item: number): boolean {
  if (item < next) return true;
  let low = 0;
  let high = ahead.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ahead[middle] as number) < item) low = middle + 1;
    else high = middle;
  }
  return ahead[low] === item;
}

/** Takes the next item off the list. */
export function takeNext(map: MapState): MapState {
  const { ahead = [], ...rest } = map;
  let next = map.next + 1;
  let passed = 0;
  while (ahead[passed] === next) {
    next += 1;
    passed += 1;
  }
  if (passed === 0) return { ...map, next };
  return { ...rest, next, ...(passed < ahead.length && { ahead: ahead.slice(passed) }) };
}

/** How many items were not taken off the list and are not over. */
export function itemsLeft({ total, next, ahead = [] }: MapState): number {
  return total - next - ahead.length;
}
