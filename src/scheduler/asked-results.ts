/**
 * Results that users gave: outputs of marked nodes, answers to approvals. They are made out of what a commit named, so
 * each pass makes the same, and are stored like results of executions before anything is decided from them.
 */
import pMap from 'p-map';
import { resultOfAnswer } from '#domain/approvals.ts';
import type { AttemptResult } from '#domain/facts.ts';
import { resultOfMark } from '#domain/marks.ts';
import type { RunRecord } from '#domain/run.ts';
import type { PassDeps } from './deps.ts';
import type { StoreResult } from './stored-results.ts';

const PARALLEL = 10;

/** Stores what users gave to a committed run and has not been decided from yet; gives it. */
export function storeAskedResults(
  deps: Pick<PassDeps, 'runs'>,
  run: RunRecord,
  store: StoreResult,
): Promise<AttemptResult[]> {
  const read = async (key: string) => (await deps.runs.readValue(run, key)) ?? 'null';
  const marks = (run.marks ?? []).flatMap((mark) => {
    const { output } = mark;
    return output === undefined ? [] : [async () => resultOfMark(mark, await read(output))];
  });
  const answers = run.flights.flatMap((flight) => {
    const { answer } = flight;
    if (!answer) return [];
    const { output } = answer;
    return [async () => resultOfAnswer(flight, answer, output === undefined ? undefined : await read(output))];
  });
  return pMap([...marks, ...answers], async (make) => store(run.nonce, await make()), { concurrency: PARALLEL });
}
