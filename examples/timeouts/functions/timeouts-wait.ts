import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'aws-lambda';
import { z } from 'zod';

const payload = z.object({ seconds: z.number().min(0).max(900), hangingAttempts: z.int().min(0) });
const millrace = z.object({ attempt: z.int().min(1) });

/**
 * Hangs for a while in its first attempts. A timeout ends the execution of the attempt, not the function: that runs on to
 * its own end, beside the next attempt, and what it returns is ignored. So a function must bear a twin.
 */
export async function handler(event: unknown, context: Pick<Context, 'clientContext'>) {
  const { seconds, hangingAttempts } = payload.parse(event);
  const { attempt } = millrace.parse(context.clientContext);
  if (attempt <= hangingAttempts) await sleep(seconds * 1000);
  return { attempt };
}
