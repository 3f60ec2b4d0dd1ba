import { createHmac } from 'node:crypto';
import type { RunRecord } from './run.ts';

/** Proves to the API that a caller speaks for an attempt: nobody can make one without the secret of the run. */
export function attemptToken(
  run: Pick<RunRecord, 'secret'>,
  { node, item, attempt }: { readonly node: number; readonly item?: number | undefined; readonly attempt: number },
): string {
  const place = item === undefined ? `${node}` : `${node}_${item}`;
  return createHmac('sha256', run.secret).update(`${place}.${attempt}`).digest('base64url');
}
