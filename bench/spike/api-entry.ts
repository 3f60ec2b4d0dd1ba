import { setTimeout as sleep } from 'node:timers/promises';
import { createCloudWatchLogs } from '#adapters/aws/cloudwatch-logs.ts';
import { createHandler } from '../../functions/api/handler.ts';
import { createReporting, readEnvironment } from '../../functions/environment.ts';
import { createLanePassDeps, createLanePorts } from './lane-pass-deps.ts';

const environment = readEnvironment(process.env);
const reporting = createReporting('api', environment);
const ports = createLanePorts(environment, reporting);

/** The function `api` over the lane. */
export const handler = createHandler({
  api: {
    ...createLanePassDeps(environment, reporting, ports),
    sleep: (ms) => sleep(ms),
    logs: createCloudWatchLogs(),
  },
  logger: reporting.logger,
});
