import { createWireLog, type WireCounts } from '#local/wire-log.ts';

/** Nothing at all. */
export const NO_COUNTS: WireCounts = createWireLog().snapshot();

/** What was counted in several parts, together. */
export function addCounts(parts: readonly WireCounts[]): WireCounts {
  return parts.reduce(add, NO_COUNTS);
}

function add({ calls: someCalls, ...some }: WireCounts, { calls: otherCalls, ...others }: WireCounts): WireCounts {
  const calls = new Map(Object.entries(someCalls));
  for (const [service, counts] of Object.entries(otherCalls)) calls.set(service, sumOf(calls.get(service), counts));
  return { ...sumOf(some, others), calls: Object.fromEntries(calls) } as WireCounts;
}

function sumOf(some: Readonly<Record<string, number>> = {}, others: Readonly<Record<string, number>>) {
  const sums = new Map(Object.entries(some));
  for (const [name, value] of Object.entries(others)) sums.set(name, (sums.get(name) ?? 0) + value);
  return Object.fromEntries(sums);
}
