import { Validations } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, it } from 'vitest';
import { createEverything } from './everything.ts';
import { createApp, createStack, nagViolations } from './synthesize.ts';

describe('a stack with everything', () => {
  it('breaks no rule of CloudFormation or of cdk-nag that it does not answer for', () => {
    const app = createApp(true);
    createEverything(app);
    expect(nagViolations(app)).toEqual([]);
  });

  it('gives a reason for each rule that it answers for', () => {
    const answers = createEverything(createApp())
      .node.findAll()
      .flatMap(({ node }) => node.metadata)
      .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
      .flatMap(({ data }) => Object.entries(data as Record<string, string>));
    expect(answers.length).toBeGreaterThan(20);
    for (const [rule, reason] of answers) expect(reason, rule).toMatch(/^[A-Z].{20,}\.$/);
  });
});

describe('a stack with a queue that lacks encryption in transit and dead letters', () => {
  it('would be refused', () => {
    const app = createApp(true);
    new Queue(createStack(app), 'Careless');
    expect(() => nagViolations(app)).toThrow(/AwsSolutions-SQS[34]/);
  });
});
