import type { Clock, RunStore } from '#ports/index.ts';
import { createDynamoAggregates } from './dynamo-aggregates.ts';
import { createDynamoResults } from './dynamo-results.ts';
import { createDynamoRunHeaders } from './dynamo-run-headers.ts';
import { createDynamoValues } from './dynamo-values.ts';
import { removeParts } from './removal.ts';
import type { Table } from './table.ts';

/** Runs in DynamoDB. Keys are in `table-keys.ts`, times to live in `retention.ts`. */
export function createDynamoRunStore(table: Table, clock: Clock): RunStore {
  return {
    ...createDynamoAggregates(table, clock),
    ...createDynamoResults(table, clock),
    ...createDynamoValues(table, clock),
    ...createDynamoRunHeaders(table, clock),
    removeParts: (run, most) => removeParts(table, run, most),
  };
}
