import type { WireAnswer } from '#local/wire-answer.ts';
import type { WireLog } from '#local/wire-log.ts';

/** DynamoDB tables on disk. */
export type TableService = {
  /**
   * Hosts an `AWS::DynamoDB::Table` or `::GlobalTable` with its resolved properties; one that is there already stays as it is.
   * @throws {TableError} `TABLE_CHANGED` if it is there with other keys or indexes
   */
  create(tableName: string, properties: unknown): Promise<void>;
  /** One request of the wire protocol; `target` is the header, `DynamoDB_20120810.PutItem`. */
  handle(target: string, body: Buffer): Promise<WireAnswer>;
  close(): Promise<void>;
};

/** Opens the tables kept in `folder` (`<data>/dynamodb`). */
export declare function openTables(options: {
  readonly folder: string;
  readonly wireLog: WireLog;
}): Promise<TableService>;
