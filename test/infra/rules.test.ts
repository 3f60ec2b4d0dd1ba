import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validations } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { createApp, createStack, ECHO, folderOf } from './synthesize.ts';

describe('the stack', () => {
  it('breaks no rule of CloudFormation or of cdk-nag that it does not answer for', () => {
    const app = createApp(true);
    createStack(app, { functionsDirectory: folderOf({ 'fetch.ts': ECHO }), stateMachines: ['nightly-report'] });
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    const { directory } = app.synth();
    const report = JSON.parse(readFileSync(join(directory, 'validation-report.json'), 'utf8')) as {
      pluginReports: { pluginName: string; violations: unknown[] }[];
    };
    expect(report.pluginReports.flatMap(({ violations }) => violations)).toEqual([]);
  });

  it('would be refused with a queue that lacks encryption in transit and dead letters', () => {
    const app = createApp(true);
    new Queue(createStack(app), 'Careless');
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).toThrow(/AwsSolutions-SQS[34]/);
  });
});
