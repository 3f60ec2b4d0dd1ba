/** Outputs by their size: shown where they fit in, else told where they are; answered, or redirected to. */
import type { Json } from '#domain/json.ts';
import { PAYLOAD_LIMITS, type PayloadRef, refInText } from '#domain/payload-ref.ts';
import type { ShownOutput } from '#domain/work-view.ts';
import { createLargeOutputs, OutputUnavailable, refsOf } from '#scheduler/payloads.ts';
import type { ApiResponse } from './api-message.ts';
import { MAX_PAGE_BYTES } from './page-filling.ts';
import { ApiProblem } from './problem.ts';
import type { Answer, ApiDeps } from './route.ts';

/** The redirect to a large output, as routes declare it. */
export const REDIRECT_TO_OUTPUT: Answer = {
  description: 'The output is large: it is at this address, which works for some minutes',
  headers: { Location: 'Where the output can be read, by whoever has the address' },
};

/**
 * Shows an output, or the address of one that is longer (bytes of its JSON text), or large in itself.
 * @param text none: an output too long to be put together
 */
export function showOutput(text: string | undefined, maxBytes: number, outputRef: string): ShownOutput {
  const isShown = text !== undefined && Buffer.byteLength(text) <= maxBytes && refsOf(text).length === 0;
  return isShown ? { output: JSON.parse(text) as Json } : { outputRef };
}

/**
 * Answers with an output.
 * @param what names it, for problems: `Node "a"`
 * @throws ApiProblem OUTPUT_NOT_FOUND, OUTPUT_TOO_LARGE
 */
export async function answerOutput(deps: ApiDeps, text: string, what: string): Promise<ApiResponse> {
  const whole = refInText(text);
  const redirect = whole && (await redirectTo(deps, whole));
  if (redirect) return redirect;
  const body = await open(deps, text, what);
  const bytes = Buffer.byteLength(body);
  if (bytes <= MAX_PAGE_BYTES) return { status: 200, headers: { 'content-type': 'application/json' }, body };
  const put = bytes <= PAYLOAD_LIMITS.stored && (await redirectTo(deps, await deps.payloads.put(body)));
  if (put) return put;
  throw tooLarge(what);
}

async function redirectTo(deps: ApiDeps, ref: PayloadRef): Promise<ApiResponse | undefined> {
  const location = await deps.payloads.presign(ref);
  return location === undefined ? undefined : { status: 307, headers: { location, 'cache-control': 'no-store' } };
}

/** Puts the large outputs in their places inside one: those of items in the list of a map. */
async function open(deps: ApiDeps, text: string, what: string): Promise<string> {
  return orProblem(async () => {
    const [opened] = await createLargeOutputs(deps.payloads).open([{ id: what, output: text }]);
    return opened?.output ?? text;
  }, what);
}

/**
 * What the reading of an output gives.
 * @throws ApiProblem OUTPUT_NOT_FOUND, OUTPUT_TOO_LARGE
 */
export async function orProblem<T>(read: () => Promise<T>, what: string): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof OutputUnavailable) || !error.error) throw error;
    const { name, message } = error.error;
    if (name === 'Millrace.PayloadTooLarge') throw tooLarge(what);
    throw new ApiProblem('OUTPUT_NOT_FOUND', message);
  }
}

function tooLarge(what: string): ApiProblem {
  const detail = `The output of ${what} has more than ${PAYLOAD_LIMITS.read} bytes; that of a map can be taken item by item, from …/items.`;
  return new ApiProblem('OUTPUT_TOO_LARGE', detail);
}
