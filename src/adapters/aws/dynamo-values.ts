/** Values and history of a run: texts under a key. A value exists for its run once a commit names its key. */
import type { Decision } from '#domain/run.ts';
import { packDecisions, unpackDecisions } from '#domain/run-codec.ts';
import type { Clock, RunStore } from '#ports/index.ts';
import { partExpiry } from './retention.ts';
import { readRunPart } from './run-parts.ts';
import { readText, storedTextFields, storeText } from './stored-text.ts';
import type { Table } from './table.ts';
import { HISTORY_PREFIX, historySortKey, runPartition, valueSortKey } from './table-keys.ts';

/** The calls of a run store that concern values and history. */
export function createDynamoValues(
  table: Table,
  clock: Clock,
): Pick<RunStore, 'putValue' | 'readValue' | 'putHistory' | 'listHistory'> {
  async function putText(pk: string, sk: string, text: string): Promise<void> {
    const ttl = partExpiry(clock.now());
    await table.put({ pk, sk, ...(await storeText(table, pk, text, ttl)), ttl });
  }

  return {
    putValue: (run, key, text) => putText(runPartition(run), valueSortKey(key), text),
    async readValue(run, key) {
      const pk = runPartition(run);
      const item = await table.get({ pk, sk: valueSortKey(key) });
      if (item === undefined) return undefined;
      return readRunPart(run.id, `value ${key}`, () => readText(table, pk, storedTextFields.parse(item)));
    },
    putHistory: (run, rev, decisions, createdAt) =>
      putText(runPartition(run), historySortKey(rev), packDecisions(decisions, createdAt)),
    listHistory: async (run, createdAt) => {
      const pk = runPartition(run);
      const decisions: Decision[] = [];
      const pages = table.query({
        expression: '#pk = :run AND begins_with(#sk, :prefix)',
        values: { ':run': pk, ':prefix': HISTORY_PREFIX },
      });
      for await (const page of pages) {
        for (const item of page) decisions.push(...(await readDecisions(run.id, pk, item, createdAt)));
      }
      return decisions;
    },
  };

  function readDecisions(runId: string, pk: string, item: unknown, createdAt: number): Promise<Decision[]> {
    return readRunPart(runId, 'its history', async () => {
      return unpackDecisions(await readText(table, pk, storedTextFields.parse(item)), createdAt);
    });
  }
}
