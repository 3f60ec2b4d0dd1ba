import { setTimeout as sleep } from 'node:timers/promises';

/** Takes its time. */
export async function handler({ seconds, attempt }: { readonly seconds: number; readonly attempt: number }) {
  await sleep(seconds * 1000);
  return { attempt };
}
