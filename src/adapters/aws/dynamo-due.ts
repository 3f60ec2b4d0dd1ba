/** The due index of the table: runs, limits and pipelines, in the shards that they are in for ever. */
import * as z from 'zod';
import type { DueIndex } from '#ports/index.ts';
import type { Table } from './table.ts';
import { DUE_INDEX, DUE_SHARD_NAMES, dueThingAt } from './table-keys.ts';

/** Most things that come out of one page of the index. */
const DUE_PAGE = 500;

const dueItem = z.object({ pk: z.string(), sk: z.string() });

/** Makes the index. What has no due time of its own is left out, whoever put it there. */
export function createDynamoDueIndex(table: Table): DueIndex {
  return {
    async *due(now) {
      for (const shard of DUE_SHARD_NAMES) {
        const pages = table.query({
          index: DUE_INDEX,
          expression: '#ds = :shard AND #da <= :now',
          values: { ':shard': shard, ':now': now },
          pageSize: DUE_PAGE,
        });
        for await (const page of pages) {
          const things = page.flatMap((item) => dueThingAt(dueItem.parse(item)) ?? []);
          if (things.length > 0) yield things;
        }
      }
    },
  };
}
