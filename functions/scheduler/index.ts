import { createReporting, readEnvironment } from '../environment.ts';
import { createPassDeps } from '../pass-deps.ts';
import { createHandler } from './handler.ts';

const environment = readEnvironment(process.env);
const reporting = createReporting('scheduler', environment);

/** The Lambda function `scheduler`. */
export const handler = createHandler({
  pass: createPassDeps(environment, reporting),
  logger: reporting.logger,
  count: reporting.count,
});
