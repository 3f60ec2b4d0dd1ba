import { setTimeout as sleep } from 'node:timers/promises';
import { createPassDeps, createReporting, readEnvironment } from '../environment.ts';
import { createHandler } from './handler.ts';

const environment = readEnvironment(process.env);
const reporting = createReporting('api', environment);

/** The Lambda function `api`. */
export const handler = createHandler({
  api: { ...createPassDeps(environment, reporting), sleep: (ms) => sleep(ms) },
  logger: reporting.logger,
});
