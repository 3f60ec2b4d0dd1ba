/** What executions said at their end: one item per attempt, written once. What is stored first stands. */
import * as z from 'zod';
import type { AttemptResult } from '#domain/facts.ts';
import type { Clock, RunKey, RunStore } from '#ports/index.ts';
import { partExpiry } from './retention.ts';
import { readRunPart } from './run-parts.ts';
import { copyChunks, optionalTextFields, readText, storedTextFields, storeText } from './stored-text.ts';
import type { Item, Table } from './table.ts';
import { parseResultSortKey, resultPrefix, resultSortKey, runPartition } from './table-keys.ts';

const LETTERS = { SUCCEEDED: 'S', FAILED: 'F', TIMED_OUT: 'T', ABORTED: 'A' } as const;
const STATUSES = { S: 'SUCCEEDED', F: 'FAILED', T: 'TIMED_OUT', A: 'ABORTED' } as const;

const resultItem = z
  .object({
    sk: z.string().regex(/^r#\d{5}(#i\d{5})?#\d{5}$/),
    s: z.enum(LETTERS),
    // When it started (ms since the epoch), and for how long it ran (ms).
    a: z.number(),
    d: z.number(),
    // Name and message of the error.
    en: z.string().optional(),
    em: z.string().optional(),
  })
  .and(optionalTextFields);

/** The calls of a run store that concern results. */
export function createDynamoResults(
  table: Table,
  clock: Clock,
): Pick<RunStore, 'putResult' | 'readResult' | 'listResults' | 'copyResults'> {
  return {
    async putResult(run, result) {
      const item = await toResultItem(table, run, result, partExpiry(clock.now()));
      const { existing } = await table.putOrGet(item, { expression: 'attribute_not_exists(#pk)' });
      return existing === undefined ? result : fromResultItem(table, run, existing);
    },
    async readResult(run, node, attempt, item) {
      const stored = await table.get({ pk: runPartition(run), sk: resultSortKey(node, attempt, item) });
      return stored === undefined ? undefined : fromResultItem(table, run, stored);
    },
    async listResults(run, node, maxBytes = Number.POSITIVE_INFINITY) {
      let bytes = 0;
      const results: AttemptResult[] = [];
      const pages = table.query({
        expression: '#pk = :run AND begins_with(#sk, :prefix)',
        values: { ':run': runPartition(run), ':prefix': resultPrefix(node) },
      });
      for await (const page of pages) {
        for (const item of page) {
          const result = await fromResultItem(table, run, item);
          results.push(result);
          bytes += result.output?.length ?? 0;
          if (bytes > maxBytes) return results;
        }
      }
      return results;
    },
    async copyResults(from, to, placeOf) {
      const pages = table.query({
        expression: '#pk = :run AND begins_with(#sk, :prefix)',
        values: { ':run': runPartition(from), ':prefix': resultPrefix() },
      });
      let copied = 0;
      for await (const page of pages)
        copied += await copyPage(table, page, { from, to, placeOf }, partExpiry(clock.now()));
      return copied;
    },
  };
}

interface Copying {
  readonly from: RunKey;
  readonly to: RunKey;
  readonly placeOf: Parameters<RunStore['copyResults']>[2];
}

/** Copies a page of results as they are stored: what is compressed stays so, and pieces of long outputs go along. */
async function copyPage(table: Table, page: readonly unknown[], copying: Copying, ttl: number): Promise<number> {
  const { from, to, placeOf } = copying;
  const pk = runPartition(to);
  const items: Item[] = [];
  for (const item of page) {
    const stored = await readRunPart(from.id, 'a result', async () => resultItem.parse(item));
    const place = placeOf(parseResultSortKey(stored.sk));
    if (!place) continue;
    const text = storedTextFields.safeParse(stored);
    if (text.success) await copyChunks(table, runPartition(from), pk, text.data, ttl);
    items.push({ ...stored, pk, sk: resultSortKey(place.node, place.attempt, place.item), ttl });
  }
  await table.putAll(items);
  return items.length;
}

async function toResultItem(table: Table, run: RunKey, result: AttemptResult, expiry: number): Promise<Item> {
  const pk = runPartition(run);
  return {
    pk,
    sk: resultSortKey(result.node, result.attempt, result.item),
    s: LETTERS[result.status],
    a: result.startedAt,
    d: result.endedAt - result.startedAt,
    ...(result.error && { en: result.error.name, em: result.error.message }),
    ...(result.output !== undefined && (await storeText(table, pk, result.output, expiry))),
    ttl: expiry,
  };
}

function fromResultItem(table: Table, run: RunKey, item: unknown): Promise<AttemptResult> {
  return readRunPart(run.id, 'a result', async () => {
    const stored = resultItem.parse(item);
    const text = storedTextFields.safeParse(stored);
    return {
      ...parseResultSortKey(stored.sk),
      status: STATUSES[stored.s],
      ...(text.success && { output: await readText(table, runPartition(run), text.data) }),
      ...(stored.en !== undefined && { error: { name: stored.en, message: stored.em ?? '' } }),
      startedAt: stored.a,
      endedAt: stored.a + stored.d,
    };
  });
}
