import { createPassDeps, createReporting, readEnvironment } from '../environment.ts';
import { createHandler } from './handler.ts';

const environment = readEnvironment(process.env);
const reporting = createReporting('intake', environment);

/** The Lambda function `intake`. */
export const handler = createHandler({ pass: createPassDeps(environment, reporting), ...reporting });
