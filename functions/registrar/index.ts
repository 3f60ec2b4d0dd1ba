import { setTimeout as sleep } from 'node:timers/promises';
import { createPorts, createReporting, readEnvironment } from '../environment.ts';
import { createHandler } from './handler.ts';

const environment = readEnvironment(process.env);
const reporting = createReporting('registrar', environment);

/** The Lambda function `registrar`. */
export const handler = createHandler({
  registrar: {
    ...createPorts(environment, reporting),
    engines: new Map([['lambda', { stateMachineArn: environment.MILLRACE_LAMBDA_ENGINE_ARN }]]),
    installation: environment.MILLRACE_INSTALLATION,
  },
  logger: reporting.logger,
  fetch,
  sleep: (ms) => sleep(ms),
});
