import { createReporting, readEnvironment } from '../environment.ts';
import { createPassDeps, createPorts } from '../pass-deps.ts';
import { createHandler } from './handler.ts';

const environment = readEnvironment(process.env);
const reporting = createReporting('intake', environment);
const ports = createPorts(environment, reporting);

/** The Lambda function `intake`. */
export const handler = createHandler({
  ...reporting,
  pass: createPassDeps(environment, reporting, ports),
  startCounts: ports.startCounts,
  startsPerMinute: environment.MILLRACE_EVENT_STARTS_PER_MINUTE,
});
