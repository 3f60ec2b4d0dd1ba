import { setTimeout as sleep } from 'node:timers/promises';
import { defineFunction, reportProgress } from 'millrace/function';

/** Takes its time, and says when half of it is over. */
export const handler = defineFunction(async ({ seconds }: { readonly seconds: number }, context) => {
  await sleep(seconds * 500);
  const told = await reportProgress(context, 0.5, 'half of it');
  await sleep(seconds * 500);
  return { told, attempt: context.attempt };
});
