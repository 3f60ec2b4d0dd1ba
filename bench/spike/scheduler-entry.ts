import { createReporting, readEnvironment } from '../../functions/environment.ts';
import { createHandler } from '../../functions/scheduler/handler.ts';
import { createLanePassDeps } from './lane-pass-deps.ts';

const environment = readEnvironment(process.env);
const reporting = createReporting('scheduler', environment);

/** The function `scheduler` over the lane. */
export const handler = createHandler({
  pass: createLanePassDeps(environment, reporting),
  logger: reporting.logger,
  count: reporting.count,
});
