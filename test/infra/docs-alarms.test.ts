import { Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { columnOf, readPage } from '../unit/docs-pages.ts';
import { createApp, createStack, propertyOf, resourcesOf } from './synthesize.ts';

/** `errors-api, -intake` stands for `errors-api` and `errors-intake`. */
function namesIn(cell: string): string[] {
  const [first = '', ...others] = cell.split(', ');
  const family = first.slice(0, first.lastIndexOf('-'));
  return [first, ...others.map((other) => `${family}${other}`)];
}

it('the guide to operating says of every alarm what it means and what to do', () => {
  const alarms = [...resourcesOf(Template.fromStack(createStack(createApp())), 'AWS::CloudWatch::Alarm').values()];
  const names = alarms.map((alarm) => String(propertyOf(alarm, 'AlarmName')).replace('millrace-', ''));
  const told = columnOf(readPage('docs/guide/operating.md'), 'Alarms', 'alarm').flatMap(namesIn);
  expect(told.sort()).toEqual(names.sort());
});
