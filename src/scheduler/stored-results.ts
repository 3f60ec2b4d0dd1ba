/** Stores what executions said. What is stored already wins, so one pass stores each result once, however often it reads its run. */
import { flightKey } from '#domain/draft.ts';
import type { AttemptResult } from '#domain/facts.ts';
import type { RunKey, RunStore } from '#ports/index.ts';
import { checkResult } from './check-output.ts';
import type { Completion } from './completion.ts';

/** Stores a result and gives what is stored, from memory where this pass stored it before. */
export type StoreResult = (nonce: string, result: AttemptResult) => Promise<AttemptResult>;

/** Makes the storing of results of one pass over one run. */
export function createResultStoring(runs: RunStore, runId: string): StoreResult {
  const stored = new Map<string, Promise<AttemptResult>>();
  return (nonce, result) => {
    const key = `${nonce}/${flightKey(result)}/${result.attempt}`;
    const known = stored.get(key);
    if (known !== undefined) return known;
    const run: RunKey = { id: runId, nonce };
    const storing = runs.putResult(run, checkResult(result));
    stored.set(key, storing);
    return storing;
  };
}

/** The result that a completion tells, where it tells it in full whatever the run says. */
export function resultOf({ nonce: _nonce, ...told }: Completion): AttemptResult | undefined {
  return told.status === 'SUCCEEDED' && told.output !== undefined ? told : undefined;
}

/**
 * Stores what completions tell, which needs no look at the run: a result is keyed by the nonce in its execution's name,
 * so that of another run than the one that is there now is nobody's. It never rejects: who needs a result asks for it
 * again and learns what went wrong.
 */
export async function storeTold(store: StoreResult, completions: readonly Completion[]): Promise<void> {
  await Promise.allSettled(
    completions.map(async (completion) => {
      const result = resultOf(completion);
      if (result) await store(completion.nonce, result);
    }),
  );
}
