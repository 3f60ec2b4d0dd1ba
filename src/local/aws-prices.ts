import type { WireCounts, WireQuantity } from '#local/wire-log.ts';

/** One line of a bill. */
type CostLine = {
  /** The quantity by its name among the counts. */
  readonly of: WireQuantity | keyof BesideWire;
  /** What is billed, in words. */
  readonly item: string;
  readonly quantity: number;
  readonly dollars: number;
};

/** What counted calls would cost on AWS. */
export type Cost = {
  /** US dollars, without free tiers. */
  readonly dollars: number;
  /** Every price of the table, also where nothing was used. */
  readonly lines: readonly CostLine[];
};

/** What is billed beside what crosses the wire. */
export type BesideWire = {
  /** Bytes of log lines taken in by CloudWatch Logs. */
  readonly logBytes?: number;
  /** Bytes of the table, its indexes included, times the months that they are kept, with point-in-time recovery. */
  readonly storedByteMonths?: number;
};

/** Where and when the prices of {@link costOf} were read. */
export const PRICES = {
  region: 'us-east-1',
  readOn: '2026-11-30',
  sources: [
    'https://aws.amazon.com/dynamodb/pricing/on-demand/',
    'https://aws.amazon.com/step-functions/pricing/',
    'https://aws.amazon.com/lambda/pricing/',
    'https://aws.amazon.com/eventbridge/pricing/',
    'https://aws.amazon.com/sqs/pricing/',
    'https://aws.amazon.com/api-gateway/pricing/',
    'https://aws.amazon.com/s3/pricing/',
    'https://aws.amazon.com/cloudwatch/pricing/',
  ],
} as const;

/** List prices, first tier, no free tier: dollars for `per` of a quantity. */
const TABLE: readonly { quantity: WireQuantity | keyof BesideWire; item: string; dollars: number; per: number }[] = [
  { quantity: 'writeUnits', item: 'DynamoDB write units, on demand', dollars: 0.625, per: 1e6 },
  { quantity: 'readUnits', item: 'DynamoDB read units, on demand', dollars: 0.125, per: 1e6 },
  { quantity: 'transitions', item: 'Step Functions state transitions, Standard', dollars: 25, per: 1e6 },
  { quantity: 'invocations', item: 'Lambda requests', dollars: 0.2, per: 1e6 },
  { quantity: 'gigabyteMs', item: 'Lambda duration, arm64, GB-ms', dollars: 0.0000133334, per: 1000 },
  { quantity: 'events', item: 'EventBridge custom events', dollars: 1, per: 1e6 },
  { quantity: 'queueRequests', item: 'SQS requests, standard queues', dollars: 0.4, per: 1e6 },
  { quantity: 'httpRequests', item: 'HTTP API requests', dollars: 1, per: 1e6 },
  { quantity: 'objectWrites', item: 'S3 PUT requests, Standard', dollars: 5, per: 1e6 },
  { quantity: 'objectReads', item: 'S3 GET requests, Standard', dollars: 0.4, per: 1e6 },
  { quantity: 'logBytes', item: 'CloudWatch Logs, taken in, bytes', dollars: 0.5, per: 1e9 },
  { quantity: 'storedByteMonths', item: 'DynamoDB storage and its backup, byte-months', dollars: 0.45, per: 1e9 },
];

/**
 * What the counted calls would cost at the list prices of {@link PRICES}. Idle polling is not in it.
 * @param beside storage and logs @default they are not in it
 */
export function costOf(counts: WireCounts, beside: BesideWire = {}): Cost {
  const amounts: Readonly<Partial<Record<WireQuantity | keyof BesideWire, number>>> = { ...counts, ...beside };
  const lines = TABLE.map(({ quantity, item, dollars, per }) => {
    const amount = amounts[quantity] ?? 0;
    return { of: quantity, item, quantity: amount, dollars: (amount * dollars) / per };
  });
  return { dollars: lines.reduce((sum, line) => sum + line.dollars, 0), lines };
}
