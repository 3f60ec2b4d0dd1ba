/** The turn of a run among those of its pipeline, where so many may be active at once (`concurrency`). */
import { type Draft, decideNode, decideRun } from './draft.ts';
import type { LimitFact } from './facts.ts';
import { isTerminal } from './node-status.ts';
import { limitFact, limitOfRun, type Slots, slotsOf, useSlot, wantSlots } from './run-limits.ts';
import { markBeginnings } from './starts.ts';

/** Begins, once the pipeline has room for another active run. */
export function begin(draft: Draft): void {
  const limit = limitOfRun(draft.pipeline);
  if (limit !== undefined) {
    const fact = limitFact(draft, limit);
    if (!fact) return;
    const slots = slotsOf(draft, limit);
    if (slots.spare <= 0) {
      awaitTurn(draft, slots, fact);
      return;
    }
    useSlot(slots);
  }
  markBeginnings(draft);
  decideRun(draft, 'RUNNING', 'Executing');
}

/** What a run does that finds as many active as may be: it waits, unless its pipeline says to leave it out. */
function awaitTurn(draft: Draft, slots: Slots, fact: LimitFact): void {
  const before = draft.before.limits?.find(({ limit }) => limit === slots.limit);
  const isAsked = before?.row !== undefined || draft.facts.told?.has(slots.limit);
  if (draft.pipeline.onOverlap === 'skip' && isAsked && fact.free === 0) {
    draft.stop = { kind: 'overlap', at: draft.now };
    return;
  }
  if (draft.facts.isSelfDeadlocked) {
    failSelfDeadlocked(draft);
    return;
  }
  wantSlots(slots, 1, 0);
  if (draft.reason !== 'ActiveRunsLimit') draft.changed = true;
  draft.reason = 'ActiveRunsLimit';
}

/** Ends a run that could only begin once it had ended (C107). */
function failSelfDeadlocked(draft: Draft): void {
  const message = `runs above this one hold every slot for active runs of ${draft.before.pipeline}, and wait for it`;
  draft.error = { name: 'Millrace.SelfDeadlock', message };
  for (const node of draft.pipeline.nodes) {
    if (!isTerminal(draft.nodes[node.index] as number)) decideNode(draft, node.index, 'A');
  }
  decideRun(draft, 'FAILED', 'SelfDeadlock');
}
