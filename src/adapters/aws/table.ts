/**
 * The calls that the stores make on their table. Items come out as unknown: whoever asked checks them.
 * A lost condition is an answer here, not an error.
 */
import { ConditionalCheckFailedException, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchWriteCommand,
  type BatchWriteCommandInput,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import pMap from 'p-map';
import { type FailedEntry, sendBatch } from './batch-sending.ts';
import type { ItemKey } from './table-keys.ts';

/** An item to put: its key and any attributes. */
export type Item = ItemKey & { readonly [attribute: string]: unknown };

/** When an item may be put or removed. Attribute names are written `#name` and need no declaration. */
interface Condition {
  readonly expression: string;
  readonly values?: { readonly [placeholder: string]: string | number };
}

/** Items of one partition, by sort key. */
export interface PartitionQuery extends Condition {
  /** @default the table itself, read strongly consistent */
  readonly index?: string;
  /** @default false, unless the table itself is read without an index */
  readonly isConsistent?: boolean;
  /** Largest sort key first. @default false */
  readonly isDescending?: boolean;
  /** Most items that one call looks at. @default as many as are in 1 MB */
  readonly pageSize?: number;
}

/** A text to be in a set of texts that has room for so many. */
interface SetMember {
  readonly attribute: string;
  readonly value: string;
  readonly most: number;
  /** When the item may go (s since the epoch). */
  readonly ttl: number;
}

/** The table of an installation. */
export interface Table {
  /** Reads an item, strongly consistent. */
  get(key: ItemKey): Promise<unknown>;
  put(item: Item): Promise<void>;
  /** Puts any number of items, in no order; a failure may leave some of them put. */
  putAll(items: readonly Item[]): Promise<void>;
  /** Puts an item if a condition holds; tells whether it did. */
  putIf(item: Item, condition: Condition): Promise<boolean>;
  /** Puts an item unless it is lost to another one, which is then given back. */
  putOrGet(item: Item, condition: Condition): Promise<{ readonly existing?: unknown }>;
  /** Adds a text to a set of an item, which is made where it is not there; tells whether it is in it now. */
  addToSet(key: ItemKey, member: SetMember): Promise<boolean>;
  /** Removes an item if a condition holds; tells whether it did. */
  removeIf(key: ItemKey, condition: Condition): Promise<boolean>;
  /** Removes any number of items, in no order; a failure may leave some of them there. */
  removeAll(keys: readonly ItemKey[]): Promise<void>;
  /** Items a page at a time; a page may be empty. */
  query(query: PartitionQuery): AsyncGenerator<readonly unknown[]>;
}

/** Items of one call, and calls at the same time. https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html */
const BATCH_ITEMS = 25;
const PARALLEL_BATCHES = 8;
const BUSY = 'the table is too busy';

/** Numbers are read as doubles, whatever stands there: a damaged item must fail in its reader, not in the client. */
const UNMARSHALL = { wrapNumbers: Number };

/** Makes the table from a client and its name. */
export function createTable(client: DynamoDBClient, tableName: string): Table {
  const documents = DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true },
    // A copy, since the client writes its own settings into it.
    unmarshallOptions: { ...UNMARSHALL },
  });

  async function get(key: ItemKey): Promise<unknown> {
    const answer = await documents.send(
      new GetCommand({ TableName: tableName, Key: { pk: key.pk, sk: key.sk }, ConsistentRead: true }),
    );
    return answer.Item;
  }

  /** Gives the error of a lost condition, or nothing. */
  function tryPut(item: Item, condition: Condition, wantsExisting: boolean) {
    return lostCondition(
      documents.send(
        new PutCommand({
          TableName: tableName,
          Item: item,
          ...conditionInput(condition),
          ...(wantsExisting && { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
        }),
      ),
    );
  }

  return {
    get,
    async put(item) {
      await documents.send(new PutCommand({ TableName: tableName, Item: item }));
    },
    putAll: (items) => putItems(documents, tableName, items),
    async putIf(item, condition) {
      return (await tryPut(item, condition, false)) === undefined;
    },
    async putOrGet(item, condition) {
      const lost = await tryPut(item, condition, true);
      if (!lost) return {};
      const existing = lost.Item ? unmarshall(lost.Item, UNMARSHALL) : await get(item);
      if (existing === undefined) throw new Error(`the item ${item.pk} ${item.sk} was taken away while it was put`);
      return { existing };
    },
    addToSet: (key, member) => addToSet(documents, tableName, key, member),
    async removeIf(key, condition) {
      const removal = new DeleteCommand({
        TableName: tableName,
        Key: { pk: key.pk, sk: key.sk },
        ...conditionInput(condition),
      });
      return (await lostCondition(documents.send(removal))) === undefined;
    },
    removeAll: (keys) => removeItems(documents, tableName, keys),
    async *query(query) {
      let start: Record<string, unknown> | undefined;
      do {
        const answer = await documents.send(
          new QueryCommand({
            TableName: tableName,
            IndexName: query.index,
            ConsistentRead: query.isConsistent ?? query.index === undefined,
            KeyConditionExpression: query.expression,
            ExpressionAttributeNames: namesIn(query.expression),
            ExpressionAttributeValues: query.values,
            ScanIndexForward: !query.isDescending,
            Limit: query.pageSize,
            ExclusiveStartKey: start,
          }),
        );
        yield answer.Items ?? [];
        start = answer.LastEvaluatedKey;
      } while (start);
    },
  };
}

async function addToSet(
  documents: DynamoDBDocumentClient,
  tableName: string,
  { pk, sk }: ItemKey,
  { attribute, value, most, ttl }: SetMember,
): Promise<boolean> {
  const update = new UpdateCommand({
    TableName: tableName,
    Key: { pk, sk },
    UpdateExpression: 'ADD #set :added SET #ttl = :ttl',
    ConditionExpression: 'attribute_not_exists(#set) OR size(#set) < :most OR contains(#set, :value)',
    ExpressionAttributeNames: { '#set': attribute, '#ttl': 'ttl' },
    ExpressionAttributeValues: { ':added': new Set([value]), ':value': value, ':most': most, ':ttl': ttl },
  });
  return (await lostCondition(documents.send(update))) === undefined;
}

type WriteRequest = NonNullable<NonNullable<BatchWriteCommandInput['RequestItems']>[string]>[number];

function putItems(documents: DynamoDBDocumentClient, tableName: string, items: readonly Item[]): Promise<void> {
  return inBatches(
    documents,
    tableName,
    items.map((Item) => ({ PutRequest: { Item } })),
  );
}

function removeItems(documents: DynamoDBDocumentClient, tableName: string, keys: readonly ItemKey[]): Promise<void> {
  return inBatches(
    documents,
    tableName,
    keys.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } })),
  );
}

async function inBatches(
  documents: DynamoDBDocumentClient,
  tableName: string,
  requests: readonly WriteRequest[],
): Promise<void> {
  const writeBatch = async (batch: readonly WriteRequest[]): Promise<FailedEntry<WriteRequest>[]> => {
    const answer = await documents.send(new BatchWriteCommand({ RequestItems: { [tableName]: [...batch] } }));
    return (answer.UnprocessedItems?.[tableName] ?? []).map((entry) => ({ entry, why: BUSY }));
  };
  const batches = Array.from({ length: Math.ceil(requests.length / BATCH_ITEMS) }, (_, at) =>
    requests.slice(at * BATCH_ITEMS, (at + 1) * BATCH_ITEMS),
  );
  await pMap(batches, (batch) => sendBatch('items', batch, writeBatch), { concurrency: PARALLEL_BATCHES });
}

function conditionInput({ expression, values }: Condition) {
  return {
    ConditionExpression: expression,
    ExpressionAttributeNames: namesIn(expression),
    ExpressionAttributeValues: values,
  };
}

async function lostCondition(call: Promise<unknown>): Promise<ConditionalCheckFailedException | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return error;
    throw error;
  }
}

function namesIn(expression: string): Record<string, string> {
  const names = expression.match(/#\w+/g) ?? [];
  return Object.fromEntries(names.map((name) => [name, name.slice(1)]));
}
