/** A thread that plays one job after the other: a campaign of random worlds, or a portion of the crashes of a small one. */
import { parentPort } from 'node:worker_threads';
import { playCampaign } from './campaign.ts';
import type { JobMessage, ThreadJob } from './campaign-threads.ts';
import { playPortion } from './exhaustive.ts';

function tell(message: JobMessage): void {
  parentPort?.postMessage(message);
}

parentPort?.on('message', (job: ThreadJob) => {
  const onFailure = (message: string) => tell({ kind: 'failing', message });
  const playing = 'kind' in job ? playCampaign(job, onFailure) : playPortion(job);
  playing.then(
    (outcome) => tell({ kind: 'played', outcome }),
    (error: unknown) => {
      throw error;
    },
  );
});
