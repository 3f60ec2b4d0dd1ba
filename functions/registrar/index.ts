import { setTimeout as sleep } from 'node:timers/promises';
import { createPassDeps, createReporting, readEnvironment } from '../environment.ts';
import { createHandler } from './handler.ts';

const environment = readEnvironment(process.env);
const reporting = createReporting('registrar', environment);

/** The Lambda function `registrar`. */
export const handler = createHandler({
  registrar: createPassDeps(environment, reporting),
  logger: reporting.logger,
  fetch,
  sleep: (ms) => sleep(ms),
});
