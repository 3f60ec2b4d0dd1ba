import type { Template } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, it } from 'vitest';
import { compileEventPattern } from '#local/event-pattern.ts';
import { propertyOf, resourcesOf, synthesize } from './synthesize.ts';

const OWN_SOURCES = ['millrace.api', 'millrace.intake', 'millrace.scheduler', 'millrace.notifier'];
const DETAIL_TYPES = ['EngineChanged', 'PipelineChanged', 'RunChanged', 'RunRejected', 'RunRequested', 'StopRequested'];

describe('EventRoutes', () => {
  let template: Template;
  beforeAll(() => {
    template = synthesize();
  });

  /** The names of the rules on one bus (the default bus has no name) that take an event. */
  function takers(bus: 'own' | 'default', event: Record<string, unknown>): unknown[] {
    return [...resourcesOf(template, 'AWS::Events::Rule').values()]
      .filter((rule) => (propertyOf(rule, 'EventBusName') !== undefined) === (bus === 'own'))
      .filter((rule) => compileEventPattern(propertyOf(rule, 'EventPattern'))(event))
      .map((rule) => propertyOf(rule, 'Name'));
  }

  describe('on our own bus', () => {
    it.each(
      [...OWN_SOURCES, 'com.example.orders', 'millrace'].flatMap((source) =>
        DETAIL_TYPES.map((detailType) => ({ source, detailType })),
      ),
    )('$detailType from $source reaches whom it concerns, and never its own publisher', ({ source, detailType }) => {
      const expected: string[] = [];
      if (['EngineChanged', 'PipelineChanged'].includes(detailType) && source !== 'millrace.scheduler') {
        expected.push('millrace-changes');
      }
      if (['RunRequested', 'StopRequested'].includes(detailType) && !source.startsWith('millrace.')) {
        expected.push('millrace-requests');
      }
      if (detailType === 'RunChanged' && source !== 'millrace.notifier') expected.push('millrace-live');
      expect(takers('own', { source, 'detail-type': detailType, detail: {} })).toEqual(expected);
    });

    it('an event that claims to come from Step Functions reaches nobody', () => {
      expect(takers('own', statusChange({}))).toEqual([]);
    });
  });

  describe('on the default bus', () => {
    it.each(['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'])(
      '%s of one of our executions reaches the scheduler',
      (status) => {
        expect(takers('default', statusChange({ status }))).toEqual(['millrace-executions']);
      },
    );

    it.each(['RUNNING', 'PENDING_REDRIVE'])('%s reaches nobody', (status) => {
      expect(takers('default', statusChange({ status }))).toEqual([]);
    });

    it.each(['orders-20261130', 'millrace2-a-b-0-1', 'millracetest-a-b-0-1', 'Millrace-a-b-0-1'])(
      'an execution called %s is none of ours',
      (name) => {
        expect(takers('default', statusChange({ name }))).toEqual([]);
      },
    );

    it('events of other services and of our own sources reach nobody', () => {
      expect(takers('default', { ...statusChange({}), source: 'aws.ec2' })).toEqual([]);
      expect(takers('default', { ...statusChange({}), 'detail-type': 'Other' })).toEqual([]);
      expect(takers('default', { source: 'com.example', 'detail-type': 'RunRequested', detail: {} })).toEqual([]);
    });
  });

  it('passes on what an execution said, and not what it was given', () => {
    const rule = [...resourcesOf(template, 'AWS::Events::Rule').values()].find(
      (each) => propertyOf(each, 'Name') === 'millrace-executions',
    );
    const paths = propertyOf(rule, 'Targets', 0, 'InputTransformer', 'InputPathsMap') as Record<string, string>;
    const text = String(propertyOf(rule, 'Targets', 0, 'InputTransformer', 'InputTemplate'));
    expect(text.replace(/<([^>]+)>/g, (_, name: string) => String(paths[name]))).toBe(
      '{"kind":"execution","name":$.detail.name,"arn":$.detail.executionArn,"status":$.detail.status,' +
        '"output":$.detail.output,"startDate":$.detail.startDate,"stopDate":$.detail.stopDate}',
    );
  });

  it('delivers whole events of the bus, and keeps what it cannot deliver', () => {
    const queues = resourcesOf(template, 'AWS::SQS::Queue');
    const queueAt = (arn: unknown) =>
      queues.get(String(propertyOf({ Type: '', Properties: { arn } }, 'arn', 'Fn::GetAtt', 0)));
    const rules = [...resourcesOf(template, 'AWS::Events::Rule').values()];
    // Live updates are worth nothing when they come late.
    for (const rule of rules.filter((each) => propertyOf(each, 'Name') !== 'millrace-live')) {
      const targets = propertyOf(rule, 'Targets') as {
        Arn: unknown;
        DeadLetterConfig: { Arn: unknown };
        InputTransformer?: object;
      }[];
      expect(targets).toHaveLength(1);
      const [target] = targets;
      const name = propertyOf(queueAt(target?.Arn), 'QueueName');
      expect(name).toBe(propertyOf(rule, 'Name') === 'millrace-requests' ? 'millrace-requests' : 'millrace-inbox');
      expect(propertyOf(queueAt(target?.DeadLetterConfig.Arn), 'QueueName')).toBe(`${name}-dead-letters`);
      expect(target?.InputTransformer !== undefined).toBe(propertyOf(rule, 'Name') === 'millrace-executions');
    }
  });
});

function statusChange(detail: Record<string, unknown>): Record<string, unknown> {
  return {
    version: '0',
    id: '315c1398-40ff-a850-213b-158f73e60175',
    source: 'aws.states',
    'detail-type': 'Step Functions Execution Status Change',
    account: '000000000000',
    region: 'us-east-1',
    resources: ['arn:aws:states:us-east-1:000000000000:execution:millrace-lambda-engine:x'],
    detail: {
      name: 'millrace-abcdefghijklmnopqrstuvwxyz-abcdefgh-0-1',
      status: 'SUCCEEDED',
      input: '{}',
      output: '{"rows":3}',
      ...detail,
    },
  };
}
