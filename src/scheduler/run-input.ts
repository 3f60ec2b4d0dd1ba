import type { RunKey, RunStore } from '#ports/index.ts';
import { INPUT_KEY } from './start-run.ts';

/** Inputs that a process keeps, and characters of the longest of them. */
const KEPT = 200;
const LONGEST_KEPT = 16 * 1024;
const caches = new WeakMap<RunStore, Map<string, string>>();

/** Reads the JSON text of a run's input. It never changes, so each process keeps the short ones that it used last. */
export async function readInput(runs: RunStore, run: RunKey): Promise<string | undefined> {
  const cache = caches.get(runs) ?? new Map<string, string>();
  caches.set(runs, cache);
  const key = `${run.id}/${run.nonce}`;
  const known = cache.get(key);
  if (known !== undefined) {
    cache.delete(key);
    cache.set(key, known);
    return known;
  }
  const input = await runs.readValue(run, INPUT_KEY);
  if (input === undefined || input.length > LONGEST_KEPT) return input;
  cache.set(key, input);
  if (cache.size > KEPT) cache.delete(cache.keys().next().value as string);
  return input;
}
