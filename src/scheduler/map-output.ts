/** The output of a map: the list of its items' outputs, in the order of the list. It is put together when it is read. */
import type { AttemptResult } from '#domain/facts.ts';
import type { Json } from '#domain/json.ts';
import { PAYLOAD_LIMITS } from '#domain/payload-ref.ts';
import type { MapState } from '#domain/run.ts';
import type { RunKey, RunStore } from '#ports/index.ts';
import { OutputUnavailable, readTooMuch } from './payloads.ts';

/** What stands at the place of a tolerated failure of which no execution told. */
const NEVER_STARTED: Json = { name: 'Millrace.ItemFailed', message: 'it failed before it was started' };

/**
 * The JSON text of a map's output; a tolerated failure leaves `{"error": {name, message}}` at its place.
 * @throws OutputUnavailable where it is longer than {@link PAYLOAD_LIMITS}`.read`
 */
export async function readMapOutput(
  runs: RunStore,
  run: RunKey,
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
  const texts = Array.from({ length: map.total }, (_, item) => itemText(last.get(item)));
  return `[${texts.join(',')}]`;
}

function itemText(result: AttemptResult | undefined): string {
  if (result?.status === 'SUCCEEDED') return result.output ?? 'null';
  const error: Json = result?.error ? { name: result.error.name, message: result.error.message } : NEVER_STARTED;
  return JSON.stringify({ error });
}
