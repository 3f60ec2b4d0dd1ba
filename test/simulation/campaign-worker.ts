/** A thread that plays one campaign after the other. */
import { parentPort } from 'node:worker_threads';
import { type Campaign, playCampaign } from './campaign.ts';

parentPort?.on('message', (campaign: Campaign) => {
  playCampaign(campaign).then(
    (outcome) => parentPort?.postMessage(outcome),
    (error: unknown) => {
      throw error;
    },
  );
});
