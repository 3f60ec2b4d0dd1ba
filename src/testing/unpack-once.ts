import type { RunRecord } from '#domain/run.ts';
import { type PackedRun, unpackRun } from '#domain/run-codec.ts';

const known = new WeakMap<PackedRun, RunRecord>();

/** The run that a stored text is; the same object each time, which nobody may change. */
export function unpackOnce(text: PackedRun): RunRecord {
  const before = known.get(text);
  if (before) return before;
  const run = unpackRun(text);
  known.set(text, run);
  return run;
}
