import { Queue } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, it } from 'vitest';
import { createApp, createStack, ECHO, folderOf, nagViolations } from './synthesize.ts';

describe('the stack', () => {
  it('breaks no rule of CloudFormation or of cdk-nag that it does not answer for', () => {
    const app = createApp(true);
    createStack(app, { functionsDirectory: folderOf({ 'fetch.ts': ECHO }), stateMachines: ['nightly-report'] });
    expect(nagViolations(app)).toEqual([]);
  });

  it('would be refused with a queue that lacks encryption in transit and dead letters', () => {
    const app = createApp(true);
    new Queue(createStack(app), 'Careless');
    expect(() => nagViolations(app)).toThrow(/AwsSolutions-SQS[34]/);
  });
});
