/** The parts of dynalite behind its HTTP server, which its package does not type. Pinned to the exact version in package.json. */

declare module 'dynalite/db/index.js' {
  type AttributeMap = Record<string, Record<string, unknown>>;
  type Callback<Result> = (error: unknown, result?: Result) => void;
  type KeySchema = readonly { AttributeName: string; KeyType: string }[];
  type Table = {
    TableName: string;
    TableStatus: string;
    KeySchema: KeySchema;
    AttributeDefinitions: readonly { AttributeName: string; AttributeType: string }[];
    GlobalSecondaryIndexes?: readonly {
      IndexName: string;
      KeySchema: KeySchema;
      Projection: { ProjectionType: string; NonKeyAttributes?: readonly string[] };
    }[];
  };
  type SubDatabase = {
    lock: unknown;
    put(key: string, value: AttributeMap, callback: Callback<void>): void;
    get(key: string, callback: Callback<AttributeMap>): void;
    del(key: string, callback: Callback<void>): void;
    createValueStream(options: object): unknown;
  };
  type Store = {
    options: { maxItemSize: number };
    db: import('classic-level').ClassicLevel<string, unknown>;
    getTable(name: string, checkStatus: boolean | Callback<Table>, callback?: Callback<Table>): void;
    getItemDb(name: string): SubDatabase;
    getIndexDb(type: string, table: string, index: string): SubDatabase;
  };

  const db: {
    create(options: { path: string }): Store;
    createKey(item: AttributeMap, table: Table, keySchema?: KeySchema): string;
    createIndexKey(item: AttributeMap, table: Table, keySchema: KeySchema): string;
  };
  export default db;
  export type { AttributeMap, Callback, KeySchema, Store, SubDatabase, Table };
}

declare module 'dynalite/validations/*.js' {
  const validation: { types: object; custom?: (data: object, store: object) => string | undefined };
  export default validation;
}

declare module 'dynalite/validations/index.js' {
  const validations: {
    checkTypes(data: unknown, types: object): Record<string, never>;
    checkValidations(data: object, types: object, custom: unknown, store: object): void;
  };
  export default validations;
}

declare module 'dynalite/actions/*.js' {
  const action: (
    store: import('dynalite/db/index.js').Store,
    data: Record<string, unknown>,
    callback: import('dynalite/db/index.js').Callback<object>,
  ) => void;
  export default action;
}
