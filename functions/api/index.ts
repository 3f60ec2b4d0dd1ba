import { setTimeout as sleep } from 'node:timers/promises';
import { createCloudWatchLogs } from '#adapters/aws/cloudwatch-logs.ts';
import { createPassDeps, createReporting, readEnvironment } from '../environment.ts';
import { createHandler } from './handler.ts';

const environment = readEnvironment(process.env);
const reporting = createReporting('api', environment);

/** The Lambda function `api`. */
export const handler = createHandler({
  api: { ...createPassDeps(environment, reporting), sleep: (ms) => sleep(ms), logs: createCloudWatchLogs() },
  logger: reporting.logger,
});
