/** Outputs of earlier successes, each in a partition of its own, until their time is over. */
import * as z from 'zod';
import type { Memo } from '#ports/index.ts';
import { readText, storedTextFields, storeText } from './stored-text.ts';
import type { Table } from './table.ts';
import { memoKey } from './table-keys.ts';

const memoItem = z.object({ until: z.number() });

/** Makes the memo on a table. */
export function createDynamoMemo(table: Table): Memo {
  return {
    async read(key, now) {
      const place = memoKey(key);
      const item = await table.get(place);
      if (item === undefined || memoItem.parse(item).until <= now) return undefined;
      return readText(table, place.pk, storedTextFields.parse(item));
    },
    async write(key, output, until) {
      const place = memoKey(key);
      const ttl = Math.ceil(until / 1000);
      await table.put({ ...place, ...(await storeText(table, place.pk, output, ttl)), until, ttl });
    },
  };
}
