import type { KeySchema, Table } from 'dynalite/db/index.js';
import { z } from 'zod';

/** A table that the host cannot have. */
export class TableError extends Error {
  override readonly name = 'TableError';
  /** `UNSUPPORTED_TABLE`: properties that the host does not know. `TABLE_CHANGED`: the data folder has it with another key. */
  readonly code: 'UNSUPPORTED_TABLE' | 'TABLE_CHANGED';

  constructor(code: TableError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

const keySchema = z
  .array(z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }))
  .min(1)
  .max(2);

const indexSchema = z.object({
  IndexName: z.string(),
  KeySchema: keySchema,
  Projection: z.object({
    ProjectionType: z.enum(['ALL', 'KEYS_ONLY', 'INCLUDE']),
    NonKeyAttributes: z.array(z.string()).optional(),
  }),
});

/** What of `AWS::DynamoDB::Table` and `::GlobalTable` has a meaning here; billing, backups, encryption and TTL have none. */
const propertiesSchema = z.object({
  KeySchema: keySchema,
  AttributeDefinitions: z.array(z.object({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) })),
  GlobalSecondaryIndexes: z.array(indexSchema).default([]),
  LocalSecondaryIndexes: z.undefined({ error: 'local secondary indexes are not hosted' }).optional(),
  StreamSpecification: z.undefined({ error: 'streams are not hosted' }).optional(),
});

/**
 * The table that CloudFormation properties describe, as dynalite keeps it.
 * @throws {TableError} `UNSUPPORTED_TABLE`, naming the property
 */
export function tableOf(tableName: string, properties: unknown): Table {
  const parsed = propertiesSchema.safeParse(properties);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'properties'}: ${issue.message}`);
    throw new TableError('UNSUPPORTED_TABLE', `Table ${tableName}: ${problems.join('; ')}`);
  }
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes } = parsed.data;
  const arn = `arn:aws:dynamodb:us-east-1:000000000000:table/${tableName}`;
  const described = {
    TableArn: arn,
    ItemCount: 0,
    TableSizeBytes: 0,
    BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
  };
  const indexes = GlobalSecondaryIndexes.map(({ Projection: { ProjectionType, NonKeyAttributes }, ...index }) => ({
    ...index,
    Projection: { ProjectionType, ...(NonKeyAttributes === undefined ? {} : { NonKeyAttributes }) },
    IndexStatus: 'ACTIVE',
    IndexArn: `${arn}/index/${index.IndexName}`,
  }));
  return {
    ...described,
    TableName: tableName,
    TableStatus: 'ACTIVE',
    KeySchema,
    AttributeDefinitions,
    ...(indexes.length === 0 ? {} : { GlobalSecondaryIndexes: indexes }),
  };
}

/** Whether items have the same key in both. */
export function hasSameKey(one: Table, other: Table): boolean {
  return keyText(one, one.KeySchema) === keyText(other, other.KeySchema);
}

/** Whether index rows are the same in both. */
export function hasSameIndexes(one: Table, other: Table): boolean {
  return indexText(one) === indexText(other);
}

function indexText(table: Table): string {
  const indexes = (table.GlobalSecondaryIndexes ?? []).map(({ IndexName, KeySchema, Projection }) =>
    JSON.stringify([
      IndexName,
      keyText(table, KeySchema),
      Projection.ProjectionType,
      Projection.NonKeyAttributes ?? [],
    ]),
  );
  return indexes.sort().join();
}

function keyText(table: Table, keys: KeySchema): string {
  const typeOf = (name: string) =>
    table.AttributeDefinitions.find(({ AttributeName }) => AttributeName === name)?.AttributeType;
  return JSON.stringify(keys.map(({ AttributeName }) => [AttributeName, typeOf(AttributeName)]));
}
