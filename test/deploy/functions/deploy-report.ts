import { reportProgress } from 'millrace/function';

/** Reports to the API that half is done. It gets the input of its execution, for the emulator hands on no client context. */
export async function handler(event: unknown) {
  return { told: await reportProgress(event, 0.5, 'half of it') };
}
