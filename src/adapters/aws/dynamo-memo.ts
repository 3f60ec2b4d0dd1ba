/** Outputs of earlier successes, each in a partition of its own, until their time is over. */
import * as z from 'zod';
import type { Memo } from '#ports/index.ts';
import { DamagedTextError, readText, storedTextFields, storeText } from './stored-text.ts';
import type { Table } from './table.ts';
import { memoKey } from './table-keys.ts';

const memoItem = z.object({ until: z.number() });

/** Makes the memo on a table. */
export function createDynamoMemo(table: Table): Memo {
  return {
    async read(key, now) {
      const place = memoKey(key);
      const item = await table.get(place);
      if (item === undefined) return undefined;
      try {
        if (memoItem.parse(item).until <= now) return undefined;
        return await readText(table, place.pk, storedTextFields.parse(item));
      } catch (error) {
        // It only saves an execution: what cannot be read must not end every run that asks for it.
        if (error instanceof DamagedTextError || error instanceof z.ZodError) return undefined;
        throw error;
      }
    },
    async write(key, output, until) {
      const place = memoKey(key);
      const ttl = Math.ceil(until / 1000);
      await table.put({ ...place, ...(await storeText(table, place.pk, output, ttl)), until, ttl });
    },
  };
}
