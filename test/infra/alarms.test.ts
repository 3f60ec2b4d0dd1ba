import { Duration, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Millrace } from '../../infra/index.ts';
import { createApp, createStack, propertyOf, type Resource, resourcesOf, synthesize } from './synthesize.ts';

const NAMES = [
  'tick-missing',
  'oldest-due',
  'stuck',
  'dead-letters-inbox',
  'dead-letters-requests',
  'dead-letters-tick',
  'errors-api',
  'errors-scheduler',
  'errors-intake',
  'errors-notifier',
  'throttles-api',
  'throttles-scheduler',
  'throttles-intake',
  'throttles-notifier',
  'server-errors',
  'own-events-scheduler',
  'own-events-intake',
  'own-events-notifier',
];

function alarmsOf(template: Template): Map<string, Resource> {
  const alarms = [...resourcesOf(template, 'AWS::CloudWatch::Alarm').values()];
  return new Map(alarms.map((each) => [String(propertyOf(each, 'AlarmName')).replace('millrace-', ''), each]));
}

describe('the alarms', () => {
  let millrace: Millrace;
  let template: Template;
  let alarms: Map<string, Resource>;
  beforeAll(() => {
    const stack = createStack(createApp());
    millrace = stack.millrace;
    template = Template.fromStack(stack);
    alarms = alarmsOf(template);
  });

  it('watch every queue of dead letters, what is late, what is stuck, the tick, throttles and errors', () => {
    expect([...alarms.keys()]).toEqual(expect.arrayContaining(NAMES));
    expect([...millrace.alarms.keys()]).toEqual(expect.arrayContaining(NAMES));
    const dead = [...resourcesOf(template, 'AWS::SQS::Queue')].filter(
      ([, queue]) => propertyOf(queue, 'RedrivePolicy') === undefined,
    );
    const watched = JSON.stringify([...alarms.values()]);
    expect(dead.length).toBeGreaterThanOrEqual(3);
    for (const [id] of dead) expect(watched).toContain(id);
  });

  it('say in their descriptions what has happened and what to do', () => {
    for (const [name, alarm] of alarms) {
      const description = String(propertyOf(alarm, 'AlarmDescription'));
      expect(description.length, name).toBeLessThanOrEqual(1024);
      expect(description.split(/\. (?=[A-Z])/).length, name).toBeGreaterThan(1);
      expect(description, name).toMatch(/\b(Read|See|Look|Compare)\b/);
    }
  });

  it('compute nothing: each watches one metric', () => {
    for (const [name, alarm] of alarms) {
      expect(propertyOf(alarm, 'Metrics'), name).toBeUndefined();
      expect(propertyOf(alarm, 'MetricName'), name).toBeDefined();
    }
  });

  it('watch the figures that the tick tells, under the dimension that it tells them with', () => {
    for (const name of ['tick-missing', 'oldest-due', 'stuck', 'own-events-scheduler']) {
      expect(propertyOf(alarms.get(name), 'Namespace')).toBe('Millrace');
      expect(propertyOf(alarms.get(name), 'Dimensions')).toEqual([{ Name: 'service', Value: 'millrace-scheduler' }]);
    }
    expect(propertyOf(alarms.get('oldest-due'), 'MetricName')).toBe('OldestDueSeconds');
    expect(propertyOf(alarms.get('oldest-due'), 'Threshold')).toBe(300);
  });

  it('take silence for a missing tick, and for nothing else', () => {
    for (const [name, alarm] of alarms) {
      expect(propertyOf(alarm, 'TreatMissingData'), name).toBe(name === 'tick-missing' ? 'breaching' : 'notBreaching');
    }
    expect(alarms.get('tick-missing')?.Properties).toMatchObject({
      Statistic: 'SampleCount',
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
      Period: 300,
    });
  });

  it('wait as long as the tick is slow', () => {
    const slow = alarmsOf(synthesize({ tickRate: Duration.minutes(5) }));
    expect(slow.get('tick-missing')?.Properties).toMatchObject({ Period: 1500, EvaluationPeriods: 2 });
    expect(slow.get('oldest-due')?.Properties).toMatchObject({ Period: 300, Threshold: 1500 });
  });

  it('tell a topic when they begin and when they are over', () => {
    const app = createApp();
    const topic = new Topic(new Stack(app, 'Topics'), 'Topic');
    const told = alarmsOf(Template.fromStack(createStack(app, { alarms: { topic } })));
    for (const alarm of told.values()) {
      expect(propertyOf(alarm, 'AlarmActions')).toHaveLength(1);
      expect(propertyOf(alarm, 'OKActions')).toEqual(propertyOf(alarm, 'AlarmActions'));
    }
  });

  it('can be left out, and the dashboard too', () => {
    const bare = synthesize({ alarms: false, dashboard: false });
    expect(alarmsOf(bare).size).toBe(0);
    expect(resourcesOf(bare, 'AWS::CloudWatch::Dashboard').size).toBe(0);
  });

  it('are shown on the one dashboard, with all metrics', () => {
    template.hasResourceProperties('AWS::CloudWatch::Dashboard', {
      DashboardName: 'millrace',
      DashboardBody: Match.anyValue(),
    });
    const [dashboard] = resourcesOf(template, 'AWS::CloudWatch::Dashboard').values();
    const body = JSON.stringify(propertyOf(dashboard, 'DashboardBody'));
    for (const shown of [
      'OldestDueSeconds',
      'StuckDue',
      'Throttles',
      'Errors',
      'ApproximateAgeOfOldestMessage',
      '5xx',
    ]) {
      expect(body).toContain(shown);
    }
  });
});
