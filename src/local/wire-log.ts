/** The services whose calls are counted. */
type WireService = 'dynamodb' | 'sqs' | 'events' | 'states' | 'lambda' | 'http' | 's3' | 'websocket';

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
  | 'httpRequests'
  /** PutObject requests of S3. */
  | 'objectWrites'
  /** GetObject and HeadObject requests of S3. */
  | 'objectReads';

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

const QUANTITIES: readonly WireQuantity[] = [
  'writeUnits',
  'readUnits',
  'transitions',
  'events',
  'queueRequests',
  'messages',
  'invocations',
  'billedMs',
  'gigabyteMs',
  'httpRequests',
  'objectWrites',
  'objectReads',
];

/** Makes an empty log. */
export function createWireLog(): WireLog {
  const calls = new Map<WireService, Map<string, number>>();
  const amounts = new Map<WireQuantity, number>(QUANTITIES.map((quantity) => [quantity, 0]));

  function call(service: WireService, api: string, times = 1): void {
    const counts = calls.get(service) ?? new Map<string, number>();
    calls.set(service, counts.set(api, (counts.get(api) ?? 0) + times));
  }
  function count(quantity: WireQuantity, amount = 1): void {
    amounts.set(quantity, (amounts.get(quantity) ?? 0) + amount);
  }
  function snapshot(): WireCounts {
    return {
      ...(Object.fromEntries(amounts) as Record<WireQuantity, number>),
      calls: Object.fromEntries([...calls].map(([service, counts]) => [service, Object.fromEntries(counts)])),
    };
  }
  return {
    call,
    count,
    invocation(functionName, { billedMs, memoryMb }) {
      const whole = Math.ceil(billedMs);
      call('lambda', functionName);
      count('invocations');
      count('billedMs', whole);
      count('gigabyteMs', (whole * memoryMb) / 1024);
    },
    snapshot,
    since: (before) => difference(snapshot(), before),
  };
}

function difference(now: WireCounts, before: WireCounts): WireCounts {
  const amounts = QUANTITIES.map((quantity) => [quantity, now[quantity] - before[quantity]] as const);
  const calls = Object.entries(now.calls).map(([service, counts]) => {
    const earlier = before.calls[service as WireService] ?? {};
    const changed = Object.entries(counts)
      .map(([api, times]) => [api, times - (earlier[api] ?? 0)] as const)
      .filter(([, times]) => times !== 0);
    return [service, Object.fromEntries(changed)] as const;
  });
  return {
    ...(Object.fromEntries(amounts) as Record<WireQuantity, number>),
    calls: Object.fromEntries(calls.filter(([, counts]) => Object.keys(counts).length > 0)),
  };
}
