/**
 * The run store in memory: the exact twin of the DynamoDB one for tests and simulation. Runs are kept as packed
 * texts, so that nothing passes here that the stored form would lose.
 */
import type { AttemptResult } from '#domain/facts.ts';
import { RUN_SCHEMA_VERSION, type RunRecord } from '#domain/run.ts';
import { type PackedRun, packDecisions, packRun, unpackDecisions, unpackRun } from '#domain/run-codec.ts';
import type { RunHeader, RunKey, RunPage, RunQuery, RunStore } from '#ports/index.ts';
import { DueMap } from './memory-due-index.ts';

/** A memory run store, and what a test may look at or damage. */
export interface MemoryRunStore extends RunStore {
  /** The stored runs, by id. */
  readonly stored: DueMap<PackedRun>;
}

/** Makes an empty store. */
export function createMemoryRunStore(): MemoryRunStore {
  const stored = new DueMap<PackedRun>();
  const parts: Parts = { results: new Map(), values: new Map(), history: new Map() };
  return {
    stored,
    ...aggregates(stored),
    ...results(parts.results),
    ...values(parts.values),
    ...history(parts.history),
    ...headers(),
    removeParts: async (run, most) => removeParts(parts, keyOf(run), most),
  };
}

/** What runs have beside their aggregates, by the key of the run. */
interface Parts {
  /** By run and node, as in the table: one node's results are read without a look at the others. */
  readonly results: Map<string, Map<number, Map<string, AttemptResult>>>;
  readonly values: Map<string, Map<string, string>>;
  readonly history: Map<string, Map<number, string>>;
}

function removeParts({ results, values, history }: Parts, run: string, most: number): boolean {
  const all = [...(results.get(run)?.values() ?? []), values.get(run), history.get(run)];
  let left = most;
  for (const items of all) {
    for (const key of items?.keys() ?? []) {
      if (left === 0) return false;
      (items as Map<unknown, unknown>).delete(key);
      left -= 1;
    }
  }
  for (const part of [results, values, history]) part.delete(run);
  return true;
}

function aggregates(stored: Map<string, PackedRun>) {
  return {
    async createRun(run: RunRecord) {
      const known = stored.get(run.id);
      if (!known) {
        stored.set(run.id, packRun(run));
        return { created: true as const };
      }
      const found = unpackRun(known);
      return found.nonce === run.nonce ? { created: true as const } : { created: false as const, run: found };
    },
    async readRun(id: string) {
      const known = stored.get(id);
      return known && unpackRun(known);
    },
    async commitRun(run: RunRecord, expectedRev: number) {
      if (!isStill(stored.get(run.id), expectedRev)) return 'conflict' as const;
      stored.set(run.id, packRun(run));
      return 'committed' as const;
    },
    async removeRun(id: string, expectedRev: number) {
      if (!isStill(stored.get(id), expectedRev)) return 'conflict' as const;
      stored.delete(id);
      return 'removed' as const;
    },
  };
}

/** A run is at the revision that was read, and newer code has not taken it over. */
function isStill(known: PackedRun | undefined, expectedRev: number): boolean {
  return known?.rev === expectedRev && known.schemaVersion <= RUN_SCHEMA_VERSION;
}

function results(byRun: Parts['results']) {
  const nodesOf = (run: RunKey) => mapAt(byRun, keyOf(run));
  return {
    async putResult(run: RunKey, result: AttemptResult) {
      const ofNode = mapAt(nodesOf(run), result.node);
      const key = attemptKey(result.attempt, result.item);
      const known = ofNode.get(key);
      if (known) return known;
      ofNode.set(key, structuredClone(result));
      return result;
    },
    async copyResults(from: RunKey, to: RunKey, placeOf: Parameters<RunStore['copyResults']>[2]) {
      return copyAll(nodesOf(from), nodesOf(to), placeOf);
    },
    async readResult(run: RunKey, node: number, attempt: number, item?: number) {
      return nodesOf(run).get(node)?.get(attemptKey(attempt, item));
    },
    async listResults(run: RunKey, node?: number, maxBytes = Number.POSITIVE_INFINITY) {
      const nodes = nodesOf(run);
      const lists = node === undefined ? [...nodes.values()] : [nodes.get(node) ?? new Map<string, AttemptResult>()];
      const all = lists.flatMap((list) => [...list.values()]);
      all.sort((a, b) => a.node - b.node || (a.item ?? -1) - (b.item ?? -1) || a.attempt - b.attempt);
      let bytes = 0;
      const last = all.findIndex(({ output }) => {
        bytes += output?.length ?? 0;
        return bytes > maxBytes;
      });
      return last === -1 ? all : all.slice(0, last + 1);
    },
  };
}

/** Copies of results need no text of their own in memory: results never change. */
function copyAll(
  from: ReadonlyMap<number, ReadonlyMap<string, AttemptResult>>,
  to: Map<number, Map<string, AttemptResult>>,
  placeOf: Parameters<RunStore['copyResults']>[2],
): number {
  let copied = 0;
  for (const ofNode of from.values()) {
    for (const result of ofNode.values()) {
      const { item: _before, ...rest } = result;
      const place = placeOf(result);
      if (!place) continue;
      const { node, item, attempt } = place;
      mapAt(to, node).set(attemptKey(attempt, item), { ...rest, node, attempt, ...(item !== undefined && { item }) });
      copied += 1;
    }
  }
  return copied;
}

function attemptKey(attempt: number, item?: number): string {
  return `${item ?? ''}/${attempt}`;
}

function values(byRun: Parts['values']) {
  return {
    async putValue(run: RunKey, key: string, text: string) {
      mapAt(byRun, keyOf(run)).set(key, text);
    },
    async readValue(run: RunKey, key: string) {
      return byRun.get(keyOf(run))?.get(key);
    },
  };
}

function history(byRun: Parts['history']) {
  return {
    async putHistory(run: RunKey, rev: number, decisions: RunRecord['decisions'], createdAt: number) {
      mapAt(byRun, keyOf(run)).set(rev, packDecisions(decisions, createdAt));
    },
    async listHistory(run: RunKey, createdAt: number) {
      const items = [...mapAt(byRun, keyOf(run)).entries()].sort(([a], [b]) => a - b);
      return items.flatMap(([, text]) => unpackDecisions(text, createdAt));
    },
  };
}

function headers() {
  /** By place in the list; nothing where a line was removed. */
  const byPlace = new Map<string, RunHeader | undefined>();
  const placeOf = ({ createdAt, id }: Pick<RunHeader, 'id' | 'createdAt'>) => `${createdAt}#${id}`;
  return {
    async putHeader(header: RunHeader) {
      const place = placeOf(header);
      const known = byPlace.get(place);
      if (!byPlace.has(place) || (known && known.rev < header.rev)) byPlace.set(place, structuredClone(header));
    },
    async removeHeader(run: Pick<RunHeader, 'id' | 'createdAt'>) {
      byPlace.set(placeOf(run), undefined);
    },
    async listRuns(query: RunQuery): Promise<RunPage> {
      const known = [...byPlace.values()].filter((header) => header !== undefined);
      const newestFirst = known.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
      const matching = newestFirst.filter((header) => matches(header, query));
      const items = matching.slice(0, query.limit);
      const last = items.at(-1);
      return matching.length > items.length && last
        ? { items, last: { createdAt: last.createdAt, id: last.id } }
        : { items };
    },
  };
}

function matches(header: RunHeader, query: RunQuery): boolean {
  if (query.pipeline !== undefined && header.pipeline !== query.pipeline) return false;
  if (query.states && !query.states.includes(header.state)) return false;
  if (query.from !== undefined && header.createdAt < query.from) return false;
  if (query.to !== undefined && header.createdAt >= query.to) return false;
  const tags = new Map(header.tags);
  if (query.tags?.some(([key, value]) => tags.get(key) !== value)) return false;
  const { after } = query;
  if (!after) return true;
  return header.createdAt < after.createdAt || (header.createdAt === after.createdAt && header.id < after.id);
}

function keyOf(run: RunKey): string {
  return `${run.id}#${run.nonce}`;
}

function mapAt<Key, K, V>(maps: Map<Key, Map<K, V>>, key: Key): Map<K, V> {
  let map = maps.get(key);
  if (!map) {
    map = new Map();
    maps.set(key, map);
  }
  return map;
}
