/** The lists of maps, stored by what they say, in pieces: a pass reads those pieces alone whose items it starts. */
import { canonicalJson, type Json } from '#domain/json.ts';
import type { RunKey, RunStore } from '#ports/index.ts';
import type { PassDeps } from './deps.ts';

/** Items in a piece. */
const PIECE = 100;
/** Pieces that a process keeps. */
const KEPT = 50;

const caches = new WeakMap<RunStore, Map<string, readonly Json[]>>();

/** Stores a list under its key. Repeated puts write the same. */
export async function storeList(deps: PassDeps, run: RunKey, key: string, list: readonly Json[]): Promise<void> {
  for (let at = 0; at < list.length; at += PIECE) {
    await deps.runs.putValue(run, pieceKey(key, at), canonicalJson(list.slice(at, at + PIECE)));
  }
}

/**
 * Reads an item of a stored list.
 * @throws Error where the list is not there, which a committed one always is
 */
export async function readItem(deps: PassDeps, run: RunKey, key: string, item: number): Promise<Json> {
  const piece = await readPiece(deps, run, pieceKey(key, item));
  return piece[item % PIECE] as Json;
}

async function readPiece(deps: PassDeps, run: RunKey, key: string): Promise<readonly Json[]> {
  let cache = caches.get(deps.runs);
  if (!cache) {
    cache = new Map();
    caches.set(deps.runs, cache);
  }
  const cacheKey = `${run.id}/${run.nonce}/${key}`;
  const known = cache.get(cacheKey);
  if (known) return known;
  const text = await deps.runs.readValue(run, key);
  if (text === undefined) throw new Error(`the list ${key} of run ${run.id} is not there`);
  const piece = JSON.parse(text) as readonly Json[];
  cache.set(cacheKey, piece);
  if (cache.size > KEPT) cache.delete(cache.keys().next().value as string);
  return piece;
}

function pieceKey(key: string, item: number): string {
  return `${key}-${Math.floor(item / PIECE)}`;
}
