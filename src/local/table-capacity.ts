import { itemBytes, type WireItem } from '#local/item-size.ts';

/** Write units of the item itself: by the larger of what was there and what is written, at least one. */
export function writeUnits(before: WireItem | undefined, after: WireItem | undefined): number {
  const bytes = Math.max(before === undefined ? 0 : itemBytes(before), after === undefined ? 0 : itemBytes(after));
  return Math.max(1, Math.ceil(bytes / 1024));
}

/** Read units of `bytes` read together: 4 KB steps, at least one, half when eventually consistent. */
export function readUnits(bytes: number, isConsistent: boolean): number {
  return Math.max(1, Math.ceil(bytes / 4096)) * (isConsistent ? 1 : 0.5);
}
