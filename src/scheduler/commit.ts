import { createHash } from 'node:crypto';
import { canonicalJson } from '#domain/json.ts';
import type { RunRecord } from '#domain/run.ts';
import type { StepResult } from '#domain/step.ts';
import { toHeader } from './announce.ts';
import type { PassDeps } from './deps.ts';
import { storeList } from './map-lists.ts';

/** Decisions that a run holds before they go to the history. */
const HELD_DECISIONS = 20;
const HELD_NODES = 100;

/** Commits a decision; gives the committed record, or nothing where the run has moved on since it was read. */
export async function commit(deps: PassDeps, before: RunRecord, result: StepResult): Promise<RunRecord | undefined> {
  if (result.run === before) return before;
  let next = result.run;
  // Whoever made the run may have died before it wrote its line in the list. One that begins is announced anyway.
  if (before.rev === 1 && next.state === 'QUEUED') await deps.runs.putHeader(toHeader(before));
  for (const [key, list] of result.lists) await storeList(deps, next, key, list);
  for (const [key, text] of result.values) await deps.runs.putValue(next, key, text);
  if (result.output !== undefined) {
    const text = canonicalJson(result.output);
    const outputKey = `output-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
    await deps.runs.putValue(next, outputKey, text);
    next = { ...next, outputKey };
  }
  if (holdsEnough(before)) {
    await deps.runs.putHistory(before, before.rev, before.decisions, before.createdAt);
    next = { ...next, decisions: next.decisions.slice(before.decisions.length) };
  }
  return (await deps.runs.commitRun(next, before.rev)) === 'committed' ? next : undefined;
}

function holdsEnough(run: RunRecord): boolean {
  if (run.decisions.length >= HELD_DECISIONS) return true;
  return run.decisions.reduce((nodes, decision) => nodes + decision.nodes.length, 0) >= HELD_NODES;
}
