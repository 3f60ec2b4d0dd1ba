import batchGetItem from 'dynalite/actions/batchGetItem.js';
import batchWriteItem from 'dynalite/actions/batchWriteItem.js';
import deleteItem from 'dynalite/actions/deleteItem.js';
import describeTable from 'dynalite/actions/describeTable.js';
import getItem from 'dynalite/actions/getItem.js';
import putItem from 'dynalite/actions/putItem.js';
import query from 'dynalite/actions/query.js';
import scan from 'dynalite/actions/scan.js';
import updateItem from 'dynalite/actions/updateItem.js';
import type { AttributeMap, Store } from 'dynalite/db/index.js';
import batchGetItemRules from 'dynalite/validations/batchGetItem.js';
import batchWriteItemRules from 'dynalite/validations/batchWriteItem.js';
import deleteItemRules from 'dynalite/validations/deleteItem.js';
import describeTableRules from 'dynalite/validations/describeTable.js';
import getItemRules from 'dynalite/validations/getItem.js';
import validations from 'dynalite/validations/index.js';
import putItemRules from 'dynalite/validations/putItem.js';
import queryRules from 'dynalite/validations/query.js';
import scanRules from 'dynalite/validations/scan.js';
import updateItemRules from 'dynalite/validations/updateItem.js';

/** The fields of a checked request that the accounting reads, and dynalite's own beside them. */
export type TableRequest = Record<string, unknown> & {
  readonly ExclusiveStartKey?: AttributeMap;
  readonly ConsistentRead?: boolean;
  /** PutItem */
  readonly Item?: AttributeMap;
  /** BatchGetItem and BatchWriteItem, by table. */
  readonly RequestItems?: Readonly<Record<string, { readonly ConsistentRead?: boolean }>>;
};

/** One hosted API of DynamoDB. */
export type TableAction = {
  /**
   * Checks a request as DynamoDB does; dynalite adds the parsed expressions to it.
   * @throws an error with `statusCode` and `body`
   */
  check(request: unknown, store: Store): TableRequest;
  /** Carries out a checked request. Rejects with an error with `statusCode` and `body`. */
  run(store: Store, request: TableRequest): Promise<object>;
};

type Rules = typeof putItemRules;

function action(run: typeof putItem, rules: Rules): TableAction {
  return {
    check(request, store) {
      const typed = validations.checkTypes(request, rules.types);
      validations.checkValidations(typed, rules.types, rules.custom, store);
      return typed;
    },
    run: (store, request) =>
      new Promise((resolve, reject) => {
        run(store, request, (error, result) => (error ? reject(error) : resolve(result ?? {})));
      }),
  };
}

/** The APIs that functions may call, by name. Tables themselves come from the template alone. */
export const TABLE_ACTIONS: ReadonlyMap<string, TableAction> = new Map([
  ['GetItem', action(getItem, getItemRules)],
  ['PutItem', action(putItem, putItemRules)],
  ['UpdateItem', action(updateItem, updateItemRules)],
  ['DeleteItem', action(deleteItem, deleteItemRules)],
  ['Query', action(query, queryRules)],
  ['Scan', action(scan, scanRules)],
  ['BatchGetItem', action(batchGetItem, batchGetItemRules)],
  ['BatchWriteItem', action(batchWriteItem, batchWriteItemRules)],
  ['DescribeTable', action(describeTable, describeTableRules)],
]);
