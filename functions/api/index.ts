import { setTimeout as sleep } from 'node:timers/promises';
import { createCloudWatchLogs } from '#adapters/aws/cloudwatch-logs.ts';
import { createReporting, readEnvironment } from '../environment.ts';
import { createPassDeps, createPorts } from '../pass-deps.ts';
import { createHandler } from './handler.ts';

const environment = readEnvironment(process.env);
const reporting = createReporting('api', environment);
const ports = createPorts(environment, reporting);
const { MILLRACE_LIVE_URL: liveUrl } = environment;

/** The Lambda function `api`. */
export const handler = createHandler({
  api: {
    ...createPassDeps(environment, reporting, ports),
    sleep: (ms) => sleep(ms),
    logs: createCloudWatchLogs(),
    ...(liveUrl !== undefined && { live: { url: liveUrl, tickets: ports.live } }),
  },
  logger: reporting.logger,
});
