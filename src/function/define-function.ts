import { createS3Payloads } from '#adapters/aws/s3-payloads.ts';
import type { Json } from '#domain/json.ts';
import { logMark } from '#domain/log-mark.ts';
import { openPayload, type PayloadBucket, toReturned } from './large-payloads.ts';
import { type LambdaContext, type RunContext, toRunContext } from './run-context.ts';
import { toToldError } from './told-error.ts';

/** The code of a function. What it gets comes from outside: check it before you use it. */
export type FunctionCode<Payload, Output> = (payload: Payload, context: RunContext) => Output | Promise<Output>;

/** A handler as Lambda calls it. */
export type FunctionHandler = (event: unknown, context?: LambdaContext) => Promise<unknown>;

/**
 * Makes the Lambda handler of a node's function. Beside calling your code it
 *
 * - gives the attempt's facts as a second argument;
 * - passes payloads and outputs of up to 50 MB by reference where they are too large for Step Functions (a payload for a node with
 *   `byReference: true` in its `params`);
 * - refuses outputs that JSON would change in silence (`Millrace.UnserializableOutput`, with the path);
 * - writes a line by which the attempt's log is found;
 * - gives errors the name of their class, for `retry.on`.
 *
 * @example
 * class BadInput extends Error {}
 *
 * export const handler = defineFunction(async (payload: { rows?: unknown[] }, { attempt }) => {
 *   if (!payload.rows) throw new BadInput('there are no rows');
 *   return { rows: payload.rows, attempt };
 * });
 */
export function defineFunction<Payload, Output>(code: FunctionCode<Payload, Output>): FunctionHandler {
  return wrapFunction(code, ownBucket);
}

/** {@link defineFunction} over any bucket; asked for it at each invocation. */
export function wrapFunction<Payload, Output>(
  code: FunctionCode<Payload, Output>,
  bucketNow: () => PayloadBucket | undefined,
): FunctionHandler {
  return async (event, context) => {
    try {
      const runContext = toRunContext(context);
      markLog(runContext, context);
      const bucket = bucketNow();
      const payload = await openPayload(event as Json, bucket);
      return await toReturned(await code(payload as Payload, runContext), bucket);
    } catch (error) {
      throw toToldError(error);
    }
  };
}

/** Writes the line by which the log of the attempt is found. */
function markLog(of: RunContext, context: LambdaContext | undefined): void {
  if (context?.clientContext !== undefined && context.awsRequestId !== undefined) {
    console.log(logMark(of, context.awsRequestId));
  }
}

let known: PayloadBucket | undefined;

/** The bucket that the installation gave the function. */
function ownBucket(): PayloadBucket | undefined {
  // The library runs in functions of others, where nothing else could give it the name.
  const { MILLRACE_PAYLOAD_BUCKET: name } = process.env;
  if (!name) return undefined;
  if (known?.name !== name) known = { name, ...createS3Payloads({ bucket: name, folder: 'outputs' }) };
  return known;
}
