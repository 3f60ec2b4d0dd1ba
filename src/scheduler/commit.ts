import { createHash } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { canonicalJson } from '#domain/json.ts';
import type { RunRecord } from '#domain/run.ts';
import { packRun } from '#domain/run-codec.ts';
import type { StepResult } from '#domain/step.ts';
import { toHeader } from './announce.ts';
import type { PassDeps } from './deps.ts';
import { storeList } from './map-lists.ts';

/** Decisions, and nodes in them, that a run holds at most before they go to the history, however short they are. */
const MOST_DECISIONS = 150;
const MOST_NODES = 600;
/** Decisions, and nodes in them, that are worth an item of the history. */
const WORTH_DECISIONS = 20;
const WORTH_NODES = 100;
/** A run's state, deflated (bytes), that fills a write unit with the item's other attributes and the next decisions. */
const FULL_BYTES = 880;

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

/** An item of the history costs a write; decisions cost nothing in a run for as long as it takes one write unit. */
function holdsEnough(run: RunRecord): boolean {
  const decisions = run.decisions.length;
  const nodes = run.decisions.reduce((sum, decision) => sum + decision.nodes.length, 0);
  if (decisions < WORTH_DECISIONS && nodes < WORTH_NODES) return false;
  if (decisions >= MOST_DECISIONS || nodes >= MOST_NODES) return true;
  return deflateRawSync(packRun(run).body).length > FULL_BYTES;
}
