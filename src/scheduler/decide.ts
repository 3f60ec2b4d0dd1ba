import type { Evaluation, Facts, LimitFact } from '#domain/facts.ts';
import { type StepResult, step } from '#domain/step.ts';
import type { PassDeps } from './deps.ts';
import { evaluateWanted } from './evaluation.ts';
import type { Reading } from './reading.ts';
import { readLimitFacts, removeRows } from './run-limits.ts';

/** What a pass decided, and the evaluations and limits that it decided from. */
export interface Decided {
  readonly result: StepResult;
  readonly evaluations: ReadonlyMap<string, Evaluation>;
  readonly limits: ReadonlyMap<string, LimitFact>;
}

/** Steps, evaluates what the step wants, and steps again, until nothing is wanted or a third of P is over. */
export async function decide(deps: PassDeps, reading: Reading, facts: Facts): Promise<Decided> {
  const { pipeline, run, readAt } = reading;
  const clock = { now: deps.clock.now(), readAt };
  const limits = new Map(facts.limits);
  const evaluations = new Map<string, Evaluation>();
  const rowsGone = new Set<string>();
  let isClosed = false;
  for (;;) {
    const known: Facts = { ...facts, limits, evaluations, rowsGone, ...(isClosed && { evaluationsClosed: true }) };
    const result = step(pipeline, run, known, clock, deps.options);
    if (result.unread.length > 0) {
      for (const [name, fact] of await readLimitFacts(deps, run, result.unread)) limits.set(name, fact);
      continue;
    }
    if (result.wanted.length === 0 && result.leftRows.length > 0) {
      await removeRows(deps, run, result.leftRows);
      for (const limit of result.leftRows) rowsGone.add(limit);
      continue;
    }
    if (result.wanted.length === 0) return { result, evaluations, limits };
    const left = readAt + deps.options.passMs / 3 - deps.clock.now();
    if (left <= 0) isClosed = true;
    else {
      const { lists } = result;
      const scope = { pipeline, run: result.run, results: facts.results ?? [], lists, limits };
      const values = await evaluateWanted(deps, scope, result.wanted, left);
      for (const [key, value] of values) evaluations.set(key, value);
      isClosed = values.size < result.wanted.length;
    }
  }
}
