/** List prices that today's lane has no use for, beside those of `src/local/aws-prices.ts`: us-east-1, first tier, dollars. */
import { PRICES } from '#local/aws-prices.ts';

/** Where and when the prices here were read. */
export const LANE_PRICES_READ = {
  region: PRICES.region,
  readOn: PRICES.readOn,
  sources: ['https://aws.amazon.com/step-functions/pricing/', 'https://aws.amazon.com/lambda/pricing/'],
} as const;

/** Step Functions Express: a request, and a GB-ms of 64 MB steps and 100 ms steps. */
export const EXPRESS_PRICES = { request: 1 / 1e6, gigabyteMs: 0.00001667 / 1000 } as const;

/** Lambda durable functions: an operation, and a byte written (kept for its retention apart). */
export const DURABLE_PRICES = { operation: 8 / 1e6, writtenByte: 0.25 / 1e9 } as const;
