/** The stack with the engine of an example, or with one that is refused: a CDK app for the development host. */
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { addEngines } from '../../examples/engines/engines.ts';
import { MillraceStack } from '../../infra/stacks/millrace-stack.ts';

const functionsDirectory = join(import.meta.dirname, '../../examples/engines/functions');
const app = new App({ outdir: process.env['CDK_OUTDIR'] ?? 'cdk.out' });
const stack = new MillraceStack(app, 'Millrace', { installation: 'millrace', functionsDirectory });
addEngines(stack);
if (process.argv[2] === 'refused') {
  const stateMachineArn = 'arn:aws:states:us-west-2:111122223333:stateMachine:elsewhere';
  stack.addStateMachineEngine('elsewhere', { stateMachineArn });
}
