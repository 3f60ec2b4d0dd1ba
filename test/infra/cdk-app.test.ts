import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, it } from 'vitest';
import { hostedType, isMeaninglessType } from '#local/resource-types.ts';
import { addWarehouse } from '../../examples/cdk-app/http-engine.ts';
import { createApp, createStack, folderOf, propertyOf, type Resource, resourcesOf } from './synthesize.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/cdk-app');

describe('the CDK app of the examples', () => {
  let resources: Map<string, Resource>;
  beforeAll(() => {
    const outdir = folderOf({});
    const { status, stderr } = spawnSync(process.execPath, ['app.ts'], {
      cwd: EXAMPLE,
      encoding: 'utf8',
      env: { ...process.env, CDK_OUTDIR: outdir },
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const template = JSON.parse(readFileSync(join(outdir, 'Shop.template.json'), 'utf8')) as {
      Resources: Record<string, Resource>;
    };
    resources = new Map(Object.entries(template.Resources));
  });

  const ofType = (type: string) => [...resources.values()].filter(({ Type }) => Type === type);

  it('has the pipeline, its functions, and the trigger that starts it', () => {
    expect(ofType('Custom::MillracePipeline').map((each) => propertyOf(each, 'Name'))).toEqual(['orders']);
    const names = ofType('AWS::Lambda::Function').map((each) => propertyOf(each, 'FunctionName'));
    expect(names).toEqual(
      expect.arrayContaining(['orders-price', 'orders-confirm', 'shop-scheduler', 'shop-registrar']),
    );
    const patterns = ofType('AWS::Events::Rule').map((each) => propertyOf(each, 'EventPattern', 'source'));
    expect(patterns).toContainEqual(['shop.checkout']);
  });

  it('tells its topic of alarms', () => {
    const alarms = ofType('AWS::CloudWatch::Alarm');
    expect(alarms.length).toBeGreaterThan(10);
    for (const alarm of alarms) expect(propertyOf(alarm, 'AlarmActions')).toHaveLength(1);
  });

  it('is made of types that the development host knows', () => {
    const types = new Set([...resources.values()].map(({ Type }) => Type));
    expect([...types].filter((type) => !hostedType(type) && !isMeaninglessType(type))).toEqual([]);
  });
});

it('the HTTP engine of the examples is taken', () => {
  const stack = createStack(createApp());
  addWarehouse(Stack.of(stack.millrace), stack.millrace);
  const template = Template.fromStack(stack);
  expect(resourcesOf(template, 'Custom::MillraceEngine').size).toBe(1);
  expect(resourcesOf(template, 'AWS::Events::Connection').size).toBe(1);
});
