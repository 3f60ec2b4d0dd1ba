import { setTimeout as sleep } from 'node:timers/promises';

/** Goes on for longer than the requests take, so that its attempt holds its slots all the while. */
export async function handler() {
  await sleep(600_000);
}
