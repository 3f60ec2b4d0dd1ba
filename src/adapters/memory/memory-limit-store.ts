/**
 * The limit store in memory: the exact twin of the DynamoDB one. Limits are kept as packed texts, so that nothing
 * passes here that the stored form would lose.
 */
import { LIMIT_SCHEMA_VERSION, parseLimitName, type WaitingRun } from '#domain/limit.ts';
import { type PackedLimit, packLimit, readableLimit, unpackLimit } from '#domain/limit-codec.ts';
import type { LimitStore, WaitingPlace } from '#ports/index.ts';
import { DueMap } from './memory-due-index.ts';

/** A memory limit store, and what a test may look at or damage. */
export interface MemoryLimitStore extends LimitStore {
  /** The stored limits, by name. */
  readonly stored: DueMap<PackedLimit>;
  /** The rows of waiting runs, by limit, in no order. */
  readonly waiting: ReadonlyMap<string, ReadonlyMap<string, WaitingRun>>;
}

/** Makes an empty store. */
export function createMemoryLimitStore(): MemoryLimitStore {
  const stored = new DueMap<PackedLimit>();
  const waiting = new Map<string, Map<string, WaitingRun>>();
  return { stored, waiting, ...limits(stored), ...rows(waiting) };
}

function limits(stored: Map<string, PackedLimit>): Pick<LimitStore, 'readLimit' | 'commitLimit' | 'listLimits'> {
  return {
    async readLimit(name) {
      const known = stored.get(name);
      return known && unpackLimit(known);
    },
    async commitLimit(limit, expectedRev) {
      const known = stored.get(limit.name);
      if ((known?.rev ?? 0) !== expectedRev) return 'conflict';
      if (known && known.schemaVersion > LIMIT_SCHEMA_VERSION) return 'conflict';
      stored.set(limit.name, packLimit(limit));
      return 'committed';
    },
    async listLimits(kind, limit, after) {
      const named = [...stored.values()].map((packed) => ({ packed, ...parseLimitName(packed.name) }));
      const wanted = named.filter((one) => one.kind === kind && (after === undefined || one.name > after));
      wanted.sort((a, b) => compareTexts(a.name, b.name));
      const readable = wanted.flatMap(({ packed }) => readableLimit(() => unpackLimit(packed)) ?? []);
      const items = readable.slice(0, limit);
      const last = items.at(-1);
      return readable.length > items.length && last ? { items, last: parseLimitName(last.name).name } : { items };
    },
  };
}

function rows(
  waiting: Map<string, Map<string, WaitingRun>>,
): Pick<LimitStore, 'putWaiting' | 'removeWaiting' | 'listWaiting'> {
  return {
    async putWaiting(row) {
      const ofLimit = waiting.get(row.limit) ?? new Map<string, WaitingRun>();
      waiting.set(row.limit, ofLimit);
      const known = ofLimit.get(placeKey(row));
      if (known?.nonce === row.nonce && known.rev > row.rev) return;
      const { isByHand, ...rest } = row;
      ofLimit.set(placeKey(row), { ...rest, ...(isByHand && { isByHand }) });
    },
    async removeWaiting(row) {
      const known = waiting.get(row.limit)?.get(placeKey(row));
      if (known?.nonce === row.nonce && known.rev <= row.rev) waiting.get(row.limit)?.delete(placeKey(row));
    },
    async listWaiting(limit, count, after) {
      const all = [...(waiting.get(limit)?.values() ?? [])].sort(compareRows);
      return all.filter((row) => after === undefined || isBehind(row, after)).slice(0, count);
    },
  };
}

function placeKey({ pipeline, priority, since, run }: WaitingRun | Omit<WaitingRun, 'taken' | 'wants'>): string {
  return JSON.stringify([pipeline, priority, since, run]);
}

function compareRows(a: WaitingRun, b: WaitingRun): number {
  return compareTexts(a.pipeline, b.pipeline) || compareWithin(a, b);
}

function compareWithin(
  a: Pick<WaitingRun, 'priority' | 'since' | 'run'>,
  b: Pick<WaitingRun, 'priority' | 'since' | 'run'>,
) {
  return b.priority - a.priority || a.since - b.since || compareTexts(a.run, b.run);
}

function isBehind(row: WaitingRun, place: WaitingPlace): boolean {
  const byPipeline = compareTexts(row.pipeline, place.pipeline);
  if (byPipeline !== 0 || !('run' in place)) return byPipeline > 0;
  return compareWithin(row, place) > 0;
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
