import { setTimeout as sleep } from 'node:timers/promises';
import { createReporting, readEnvironment } from '../environment.ts';
import { createPassDeps } from '../pass-deps.ts';
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
