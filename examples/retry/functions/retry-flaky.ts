import type { Context } from 'aws-lambda';
import { z } from 'zod';

const payload = z.object({ failingAttempts: z.int().min(0), error: z.string() });
const millrace = z.object({ attempt: z.int().min(1) });

/** Fails in the first `failingAttempts` attempts, with the error name that is asked for. Its name is what `retry.on` sees. */
export async function handler(event: unknown, context: Pick<Context, 'clientContext'>) {
  const { failingAttempts, error } = payload.parse(event);
  const { attempt } = millrace.parse(context.clientContext);
  if (attempt <= failingAttempts) throw Object.assign(new Error(`attempt ${attempt} fails`), { name: error });
  return { attempt };
}
