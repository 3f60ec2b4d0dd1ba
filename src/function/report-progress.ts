/** Lets the code of a function say how far it is. */
import { REPORT_LIMITS } from '#domain/report.ts';
import { type AttemptFacts, attemptOf } from './run-context.ts';

/** An answer takes much less; a function must not wait for one that does not come. */
const TIMEOUT_MS = 3_000;

/**
 * Reports the progress of the attempt that a function runs for: it is shown with the node, is never lowered, and counts as a
 * sign of life for a node with `heartbeatSeconds`. At most one call a second is made, unless all is done.
 *
 * It never throws: a report that is lost is no reason to fail.
 *
 * @param of the second argument of the code of `defineFunction`, the context of a plain handler, or an event that is the input of
 * the attempt's execution, with its `millrace` part
 * @param progress the share that is done, 0 to 1
 * @param message for people; cut at 500 characters
 * @returns whether it was taken: not where no run invoked the function, the last report was just now, or the attempt is over, so
 * that nothing waits for the function any more
 *
 * @example
 * export const handler = defineFunction(async ({ files }, context) => {
 *   for (const [at, file] of files.entries()) {
 *     await load(file);
 *     await reportProgress(context, (at + 1) / files.length, `${at + 1} of ${files.length} files`);
 *   }
 * });
 */
export async function reportProgress(of: unknown, progress: number, message?: string): Promise<boolean> {
  const attempt = attemptOf(of);
  const { MILLRACE_API_URL: api } = process.env;
  if (!attempt?.token || !api || Number.isNaN(progress)) return false;
  const share = Math.min(1, Math.max(0, progress));
  if (isTooSoon(attempt.token, share)) return false;
  try {
    return await send(api, { ...attempt, token: attempt.token }, share, message);
  } catch {
    return false;
  }
}

/** An environment runs one invocation at a time, so the last report is all that has to be known. */
let last: { readonly token: string; readonly at: number; readonly isEnd: boolean } | undefined;

function isTooSoon(token: string, share: number): boolean {
  const now = performance.now();
  const isEnd = share === 1;
  if (last?.token === token && now - last.at < REPORT_LIMITS.spacingMs && (!isEnd || last.isEnd)) return true;
  last = { token, at: now, isEnd };
  return false;
}

async function send(
  api: string,
  { run, node, item, attempt, token }: AttemptFacts & { readonly token: string },
  progress: number,
  message: string | undefined,
): Promise<boolean> {
  const url = new URL(`${api}/v1/runs/${run}/nodes/b64.${Buffer.from(node).toString('base64url')}/progress`);
  url.searchParams.set('attempt', String(attempt));
  if (item !== undefined) url.searchParams.set('item', String(item));
  const text = message?.slice(0, REPORT_LIMITS.messageLength).toWellFormed();
  const body = JSON.stringify({ token, progress, ...(text !== undefined && { message: text }) });
  const response = await fetch(url, {
    method: 'POST',
    headers: await headersFor(url, body),
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  return response.status === 204;
}

/** The API of an account takes signed requests alone; that of a development host, on this machine, asks for the token only. */
async function headersFor(url: URL, body: string): Promise<Record<string, string>> {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
    AWS_REGION: region,
  } = process.env;
  const headers = { 'content-type': 'application/json' };
  if (url.protocol === 'http:' || !accessKeyId || !secretAccessKey || !region) return headers;
  const { signedHeaders } = await import('./signed-request.ts');
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  return signedHeaders({ method: 'POST', url, headers, body }, credentials, region);
}
