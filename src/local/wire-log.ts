/** The services whose calls are counted. */
export type WireService = 'dynamodb' | 'sqs' | 'events' | 'states' | 'lambda' | 'http';

/** What is counted besides calls. */
export type WireQuantity =
  /** DynamoDB write request units, index writes and failed conditional writes included. */
  | 'writeUnits'
  /** DynamoDB read request units. */
  | 'readUnits'
  /** Step Functions state transitions (states entered). */
  | 'transitions'
  /** Custom events put on a bus, in 64 KB chunks. */
  | 'events'
  /** SQS requests as they are billed, in 64 KB chunks. */
  | 'queueRequests'
  /** Messages sent to a queue. */
  | 'messages'
  /** Lambda invocations. */
  | 'invocations'
  /** Lambda duration in billed milliseconds. */
  | 'billedMs'
  /** Lambda duration in gigabyte-milliseconds. */
  | 'gigabyteMs'
  /** Requests to the HTTP API, in 512 KB chunks. */
  | 'httpRequests';

/** What has crossed the wire up to a moment, or between two of them. */
export type WireCounts = Readonly<Record<WireQuantity, number>> & {
  /** Calls by `service` and API name (`calls.dynamodb.PutItem`). A service or API that was never called is missing. */
  readonly calls: Readonly<Partial<Record<WireService, Readonly<Record<string, number>>>>>;
};

/** Counts what crosses the wire between the functions and the hosted services. */
export type WireLog = {
  /** One call (or `times`) of an API, by its AWS name. */
  call(service: WireService, api: string, times?: number): void;
  /** Adds to a quantity. @default amount 1 */
  count(quantity: WireQuantity, amount?: number): void;
  /** One Lambda invocation. `billedMs` is rounded up to whole milliseconds. */
  invocation(functionName: string, usage: { readonly billedMs: number; readonly memoryMb: number }): void;
  /** Everything counted so far. The result does not change any more. */
  snapshot(): WireCounts;
  /** What was counted after `before` was taken. */
  since(before: WireCounts): WireCounts;
};

/** An empty log. */
export declare function createWireLog(): WireLog;
