/** The stack with the engine of an example: a CDK app for the development host. */
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { addEngines } from '../../examples/engines/engines.ts';
import { MillraceStack } from '../../infra/stacks/millrace-stack.ts';

const functionsDirectory = join(import.meta.dirname, '../../examples/engines/functions');
const app = new App({ outdir: process.env['CDK_OUTDIR'] ?? 'cdk.out' });
addEngines(new MillraceStack(app, 'Millrace', { functionsDirectory }).millrace);
