import type { RunKey, RunStore } from '#ports/index.ts';
import { createKeptValues } from './kept-values.ts';
import { INPUT_KEY } from './new-run.ts';

/** Characters of the longest input that a process keeps. */
const LONGEST_KEPT = 16 * 1024;
/** Inputs never change, so each process keeps so many of them. */
const kept = createKeptValues<RunStore, string>(200);

/** Reads the JSON text of a run's input, a short one from the process's memory where it is there. */
export async function readInput(runs: RunStore, run: RunKey): Promise<string | undefined> {
  const key = `${run.id}/${run.nonce}`;
  const known = kept.get(runs, key);
  if (known !== undefined) return known;
  const input = await runs.readValue(run, INPUT_KEY);
  if (input !== undefined && input.length <= LONGEST_KEPT) kept.put(runs, key, input);
  return input;
}
