import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

/** What an imported task asks for. */
const payload = z.object({
  /** Id of the task in its WfFormat file. */
  task: z.string(),
  /** How long it takes: its recorded run time times `--time-scale`. Up to 15 minutes, the longest that a Lambda function can run. */
  seconds: z.number().min(0).max(900),
});

/** Stands for the task of a recorded workflow: takes as long and does nothing else. */
export async function handler(event: unknown) {
  const { task, seconds } = payload.parse(event);
  await sleep(seconds * 1000);
  return { task };
}
