/** The output of a map: the list of its items' outputs, in the order of the list. It is put together when it is read. */
import type { AttemptResult } from '#domain/facts.ts';
import { statusOf } from '#domain/node-status.ts';
import { PAYLOAD_LIMITS } from '#domain/payload-ref.ts';
import type { ErrorInfo, MapState, RunRecord } from '#domain/run.ts';
import type { RunStore } from '#ports/index.ts';
import { OutputUnavailable, readTooMuch } from './payloads.ts';

/** What stands at the place of a failure of which nothing else is known. */
const UNTOLD: ErrorInfo = { name: 'Millrace.ItemFailed', message: 'the item failed' };

/**
 * The JSON text of a map's output; a tolerated failure leaves `{"error": {name, message}}` at its place.
 * @throws OutputUnavailable where it is longer than {@link PAYLOAD_LIMITS}`.read`
 */
export async function readMapOutput(
  runs: RunStore,
  run: RunRecord,
  map: MapState,
  atHand: readonly AttemptResult[] = [],
): Promise<string> {
  const last = new Map<number, AttemptResult>();
  const stored = await runs.listResults(run, map.node, PAYLOAD_LIMITS.read);
  const length = stored.reduce((sum, { output = '' }) => sum + output.length, 0);
  if (length > PAYLOAD_LIMITS.read) throw new OutputUnavailable(readTooMuch('the output of a map'));
  for (const result of [...stored, ...atHand]) {
    if (result.node !== map.node || result.item === undefined) continue;
    const known = last.get(result.item);
    if (!known || known.attempt <= result.attempt) last.set(result.item, result);
  }
  const decided = map.failed > 0 ? await failuresOf(runs, run, map.node) : new Map<number, Failure>();
  const texts = Array.from({ length: map.total }, (_, item) => {
    const failure = decided.get(item);
    const result = last.get(item);
    if (!failure) return result?.output ?? 'null';
    const error = failure.error ?? (result?.status === 'SUCCEEDED' ? undefined : result?.error) ?? UNTOLD;
    return JSON.stringify({ error: { name: error.name, message: error.message } });
  });
  return `[${texts.join(',')}]`;
}

interface Failure {
  /** Where no execution's result tells it. */
  readonly error: ErrorInfo | undefined;
}

/** The items that failed for good: the decision stands, whatever an execution said too late. */
async function failuresOf(runs: RunStore, run: RunRecord, node: number): Promise<Map<number, Failure>> {
  const failures = new Map<number, Failure>();
  for (const decision of [...(await runs.listHistory(run, run.createdAt)), ...run.decisions]) {
    const { to, items, nodes, error } = decision;
    if (to === 'run' || !items || nodes[0] !== node || statusOf(to).standing !== 'bad') continue;
    for (const item of items) failures.set(item, { error: error ?? endedOutside(to) });
  }
  return failures;
}

function endedOutside(to: string): ErrorInfo | undefined {
  if (to !== 'O') return undefined;
  return { name: 'Millrace.AbortedOutside', message: 'the execution was stopped from outside Millrace' };
}
