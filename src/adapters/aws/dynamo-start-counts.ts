import type { StartCounts } from '#ports/index.ts';
import type { Table } from './table.ts';
import { startCountKey } from './table-keys.ts';

/** Characters of a run's id that tell it from the others of its minute; so 100 of them fit into one write unit. */
const MARK_LENGTH = 8;
/** Seconds that a minute is remembered: longer than a message is tried again, so none is counted anew. */
const KEPT_SECONDS = 86_400;

/**
 * Counts of starts on a table: one item a pipeline and minute, with a set of marks of the runs. One call both asks and
 * counts, so that neither two readers of the queue nor a message that comes again take a place too many.
 */
export function createDynamoStartCounts(table: Table): StartCounts {
  return {
    count: (pipeline, minute, runId, most) =>
      table.addToSet(startCountKey(pipeline, minute), {
        attribute: 'counted',
        value: runId.slice(0, MARK_LENGTH),
        most,
        ttl: minute * 60 + KEPT_SECONDS,
      }),
  };
}
