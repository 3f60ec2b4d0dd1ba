/** The lists of maps, stored by what they say, in pieces: a pass reads those pieces alone whose items it starts. */
import { canonicalJson, type Json } from '#domain/json.ts';
import type { RunKey, RunStore } from '#ports/index.ts';
import type { PassDeps } from './deps.ts';
import { createKeptValues } from './kept-values.ts';

/** Items in a piece. */
const PIECE = 100;
/** Pieces never change, so each process keeps so many of them. */
const kept = createKeptValues<RunStore, readonly Json[]>(50);

/** A list of a run that is not there, which a committed one always is, until the run is deleted. */
export class MissingListError extends Error {
  readonly run: RunKey;

  constructor(run: RunKey, key: string) {
    super(`the list ${key} of run ${run.id} is not there`);
    this.name = 'MissingListError';
    this.run = run;
  }
}

/** Stores a list under its key. Repeated puts write the same. */
export async function storeList(deps: PassDeps, run: RunKey, key: string, list: readonly Json[]): Promise<void> {
  for (let at = 0; at < list.length; at += PIECE) {
    await deps.runs.putValue(run, pieceKey(key, at), canonicalJson(list.slice(at, at + PIECE)));
  }
}

/**
 * Copies a list of so many items to another run.
 * @returns the key of a piece that is not there, which all are while their run is not being deleted
 */
export async function copyList(
  deps: PassDeps,
  from: RunKey,
  to: RunKey,
  { key, total }: { readonly key: string; readonly total: number },
): Promise<string | undefined> {
  for (let at = 0; at < total; at += PIECE) {
    const piece = pieceKey(key, at);
    const text = await deps.runs.readValue(from, piece);
    if (text === undefined) return piece;
    await deps.runs.putValue(to, piece, text);
  }
  return undefined;
}

/**
 * Reads an item of a stored list.
 * @throws MissingListError
 */
export async function readItem(deps: PassDeps, run: RunKey, key: string, item: number): Promise<Json> {
  const piece = await readPiece(deps, run, pieceKey(key, item));
  return piece[item % PIECE] as Json;
}

async function readPiece(deps: PassDeps, run: RunKey, key: string): Promise<readonly Json[]> {
  const place = `${run.id}/${run.nonce}/${key}`;
  const known = kept.get(deps.runs, place);
  if (known) return known;
  const text = await deps.runs.readValue(run, key);
  if (text === undefined) throw new MissingListError(run, key);
  const piece = JSON.parse(text) as readonly Json[];
  kept.put(deps.runs, place, piece);
  return piece;
}

function pieceKey(key: string, item: number): string {
  return `${key}-${Math.floor(item / PIECE)}`;
}
