/** Threads that share a list of jobs, and stop at the first failure. */
import { Worker } from 'node:worker_threads';
import type { Campaign, CampaignOutcome } from './campaign.ts';
import type { Portion, PortionOutcome } from './exhaustive.ts';

/** What a thread plays. */
export type ThreadJob = Campaign | Portion;

type OutcomeOf<J> = J extends Campaign ? CampaignOutcome : PortionOutcome;

/** What a thread says: a job is done, or a world of it fails and the smallest that does is being looked for. */
export type JobMessage =
  | { readonly kind: 'played'; readonly outcome: CampaignOutcome | PortionOutcome }
  | { readonly kind: 'failing'; readonly message: string };

/** What is done with what threads say. */
export interface ThreadListener<J extends ThreadJob> {
  /** A job is done. */
  readonly onPlayed: (job: J, outcome: OutcomeOf<J>) => void;
  /** A world failed; its thread goes on looking for the smallest. */
  readonly onFailing?: (message: string) => void;
  /** Whether the other jobs are played all the same. @default false */
  readonly keepsGoing?: boolean;
}

/**
 * Plays jobs on threads, each the next that is left, and begins none once one has failed, unless that is asked for.
 * @returns how many threads there were
 * @throws what a thread throws
 */
export async function playOnThreads<J extends ThreadJob>(
  jobs: readonly J[],
  threads: number,
  listener: ThreadListener<J>,
): Promise<number> {
  const left = [...jobs];
  let hasFailed = false;
  const count = Math.min(threads, jobs.length);
  const work = async () => {
    const worker = new Worker(new URL('./campaign-worker.ts', import.meta.url));
    try {
      for (let job = left.shift(); job && !hasFailed; job = left.shift()) {
        const outcome = await ask(worker, job, listener.onFailing);
        hasFailed ||= outcome.failure !== undefined && !listener.keepsGoing;
        listener.onPlayed(job, outcome as OutcomeOf<J>);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: count }, work));
  return count;
}

function ask(
  worker: Worker,
  job: ThreadJob,
  onFailing: ((message: string) => void) | undefined,
): Promise<CampaignOutcome | PortionOutcome> {
  return new Promise((resolve, reject) => {
    const hear = (message: JobMessage) => {
      if (message.kind === 'failing') {
        onFailing?.(message.message);
        return;
      }
      worker.off('error', reject).off('message', hear);
      resolve(message.outcome);
    };
    worker.on('message', hear).once('error', reject).postMessage(job);
  });
}
