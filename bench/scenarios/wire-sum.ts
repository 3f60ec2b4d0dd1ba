import { createWireLog, type WireCounts } from '#local/wire-log.ts';

/** Nothing at all. */
export const NO_COUNTS: WireCounts = createWireLog().snapshot();

/** What was counted, without something that happened so many times in between. */
export function without(all: WireCounts, part: WireCounts, times: number): WireCounts {
  const { calls: allCalls, ...amounts } = all;
  const { calls: partCalls, ...others } = part;
  const calls = new Map(Object.entries(allCalls));
  for (const [service, counts] of Object.entries(partCalls)) {
    calls.set(service, less(calls.get(service), counts, times));
  }
  return { ...less(amounts, others, times), calls: Object.fromEntries(calls) } as WireCounts;
}

function less(all: Readonly<Record<string, number>> = {}, part: Readonly<Record<string, number>>, times: number) {
  const left = new Map(Object.entries(all));
  for (const [name, value] of Object.entries(part)) left.set(name, (left.get(name) ?? 0) - value * times);
  return Object.fromEntries(left);
}
