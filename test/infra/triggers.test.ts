import { Template } from 'aws-cdk-lib/assertions';
import { EventField, Match } from 'aws-cdk-lib/aws-events';
import { describe, expect, it } from 'vitest';
import { compileEventPattern, PATTERN_DEPTH } from '#local/event-pattern.ts';
import { eventRuleOf } from '#local/event-rule.ts';
import { addTriggers } from '../../examples/event-triggers/triggers.ts';
import { readMessage } from '../../functions/intake/take-message.ts';
import type { EventFilter } from '../../infra/constructs/event-filter.ts';
import type { TriggerOptions } from '../../infra/constructs/trigger.ts';
import type { MillraceStack } from '../../infra/index.ts';
import { createApp, createStack, propertyOf, type Resource, resourcesOf } from './synthesize.ts';

const stack = createStack(createApp());
let made = 0;

/** Adds a trigger; gives what `addTrigger` refused it with. */
function refusal(filter: unknown, options: Partial<TriggerOptions> = {}): string {
  try {
    made += 1;
    stack.millrace.addTrigger(`refused${made}`, { pipeline: 'etl', filter: filter as EventFilter, ...options });
    return 'taken';
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return `${code}: ${message}`;
  }
}

const nested = (levels: number): EventFilter =>
  Array.from({ length: levels - 1 }).reduce<EventFilter>((inner) => ({ a: inner }), { a: ['x'] });
const detailNested = (levels: number): EventFilter => ({ detail: nested(levels - 1) });

/** The rule that a trigger makes in a stack of its own. */
function ruleOf(options: TriggerOptions, bus: 'own' | 'default' = 'default'): { rule: Resource; template: Template } {
  const fresh = createStack(createApp());
  const { node } = fresh.millrace.addTrigger('orders', {
    ...options,
    ...(bus === 'own' && { bus: fresh.millrace.bus }),
  });
  const template = Template.fromStack(fresh);
  const id = fresh.getLogicalId(node.findChild('Rule').node.defaultChild as Parameters<typeof fresh.getLogicalId>[0]);
  const rule = resourcesOf(template, 'AWS::Events::Rule').get(id);
  if (!rule) throw new Error('the trigger made no rule');
  return { rule, template };
}

const order = (detail: object, more: object = {}) => ({
  version: '0',
  id: 'e1',
  source: 'acme.shop',
  'detail-type': 'OrderPlaced',
  account: '111122223333',
  region: 'eu-central-1',
  time: '2026-11-30T12:00:00Z',
  resources: [],
  detail,
  ...more,
});

/** What the intake reads of an event that a trigger heard. */
function heard(options: TriggerOptions, event: Record<string, unknown>) {
  const { rule } = ruleOf(options);
  const target = propertyOf(rule, 'Targets', 0) as Record<string, unknown>;
  const hosted = eventRuleOf(
    { arn: 'arn:aws:events:eu-central-1:111122223333:rule/orders', name: 'orders' },
    {
      EventPattern: propertyOf(rule, 'EventPattern'),
      Targets: [{ ...target, Arn: 'arn:aws:sqs:x:y:z', DeadLetterConfig: undefined }],
    },
  );
  if (!hosted?.matches(event)) return 'not heard';
  return readMessage(hosted.targets[0]?.inputOf({ event, text: JSON.stringify(event) }) ?? '', 'm1');
}

describe('C91 filters of triggers', () => {
  it.each<[string, unknown, string]>([
    ['nothing', {}, 'The filter is empty, and would match everything'],
    ['a misspelt field', { sorce: ['x'] }, 'The filter at sorce names no field of an event: did you mean "source"?'],
    ['a field as CDK names it', { detailType: ['x'] }, 'did you mean "detail-type"?'],
    ['a field that is nowhere near', { payload: ['x'] }, 'there are source, detail-type'],
    ['an empty list', { detail: { n: [] } }, 'The filter at detail.n is an empty list'],
    ['an empty object', { detail: {} }, 'The filter at detail is empty'],
    [
      'an unknown operator',
      { detail: { n: [{ prefx: 'T-' }] } },
      'at detail.n.0.prefx names no operator: did you mean "prefix"?',
    ],
    [
      'an unknown operator within another',
      { detail: { n: [{ 'anything-but': { prefixes: 'T-' } }] } },
      'did you mean "prefix"?',
    ],
    [
      'two operators in one',
      { detail: { n: [{ prefix: 'a', suffix: 'b' }] } },
      'must be an operator, an object of one key',
    ],
    ['an empty prefix', { source: [{ prefix: '' }] }, 'The filter at source.0.prefix is an empty text'],
    ['anything but nothing', { source: [{ 'anything-but': [] }] }, 'is an empty list'],
    ['a value that is no list', { source: 'x' }, 'The filter at source must be a list of values, or an object'],
    ['a comparison of text', { detail: { n: [{ numeric: ['>', '1'] }] } }, 'must be a list like'],
    ['alternatives of one', { $or: [{ source: ['x'] }] }, 'must be a list of at least two filters'],
    ['a misspelt field of an alternative', { $or: [{ source: ['x'] }, { sorce: ['x'] }] }, 'The filter at $or.1.sorce'],
    ['only what all events of the account have', { account: ['111122223333'] }, 'matches every event'],
    ['a list as a filter', [], 'The filter must be an object'],
    ['50 levels', detailNested(50), `nests more than ${PATTERN_DEPTH} levels deep`],
    ['more text than EventBridge takes', { source: ['x'.repeat(2048)] }, 'EventBridge takes 2048'],
    ['what the intake answers', { source: ['acme', 'millrace.intake'] }, 'listens to millrace.intake'],
  ])('%s is refused', (_name, filter, message) => {
    const found = refusal(filter);
    expect(found).toContain('INVALID_FILTER: ');
    expect(found).toContain(message);
  });

  it('takes as many levels as the development host', () => {
    expect(refusal(detailNested(PATTERN_DEPTH))).toBe('taken');
    expect(refusal(detailNested(PATTERN_DEPTH + 1))).toContain('INVALID_FILTER');
    expect(() => compileEventPattern(detailNested(PATTERN_DEPTH))).not.toThrow();
  });

  it.each([
    { source: ['acme'] },
    { 'detail-type': [{ 'equals-ignore-case': 'orderplaced' }], account: ['1'] },
    { source: [{ prefix: 'acme.' }], detail: { n: [{ numeric: ['>', 0, '<=', 5] }, null, true, 3] } },
    { detail: { file: [{ suffix: { 'equals-ignore-case': '.PNG' } }, { wildcard: '*/lib/*' }] } },
    { detail: { ip: [{ cidr: '10.0.0.0/24' }], gone: [{ exists: false }] } },
    { $or: [{ source: ['a'] }, { detail: { b: [{ 'anything-but': ['c', 1] }] } }] },
  ])('%j is taken', (filter) => {
    expect(refusal(filter)).toBe('taken');
  });

  it('anything but a prefix matches what does not begin so, and nothing else', () => {
    const filter = { detail: { id: [{ 'anything-but': { prefix: 'T-' } }] } };
    expect(heard({ pipeline: 'etl', filter }, order({ id: 'T-1' }))).toBe('not heard');
    expect(heard({ pipeline: 'etl', filter }, order({ id: 'U-1' }))).toMatchObject({ kind: 'RunRequested' });
    expect(heard({ pipeline: 'etl', filter }, order({ other: 'U-1' }))).toBe('not heard');
  });

  it('the matchers of CDK can stand in a filter', () => {
    const filter = { source: Match.prefix('acme.'), detail: { id: Match.anythingButPrefix('T-') } };
    expect(heard({ pipeline: 'etl', filter }, order({ id: 'U-1' }))).toMatchObject({ kind: 'RunRequested' });
    expect(heard({ pipeline: 'etl', filter }, order({ id: 'T-1' }))).toBe('not heard');
    expect(heard({ pipeline: 'etl', filter }, order({ id: 'U-1' }, { source: 'other' }))).toBe('not heard');
  });
});

it('the triggers of the example are taken', () => {
  const rulesOf = (of: MillraceStack) => resourcesOf(Template.fromStack(of), 'AWS::Events::Rule').size;
  const fresh = createStack(createApp());
  addTriggers(fresh.millrace);
  expect(rulesOf(fresh)).toBe(rulesOf(createStack(createApp())) + 2);
});

describe('a trigger', () => {
  const filter = { 'detail-type': ['OrderPlaced'] };

  it('hands on what it starts and the event as it came, whose detail is the input', () => {
    const detail = { id: 'U-1', note: 'says "<so>"\n', hops: 3 };
    expect(heard({ pipeline: 'etl', filter, revision: 'abc', tags: { team: 'sales' } }, order(detail))).toEqual({
      kind: 'RunRequested',
      head: {
        eventId: 'e1',
        source: 'acme.shop',
        detailType: 'OrderPlaced',
        trigger: 'orders',
        pipeline: 'etl',
        hops: 3,
      },
      detail: { pipeline: 'etl', input: detail, hops: 3, revision: 'abc', tags: { team: 'sales' } },
    });
  });

  it('makes the input of what it is told, and of parts of the event', () => {
    const input = {
      day: EventField.fromPath('$.detail.day'),
      from: 'shop',
      lines: EventField.fromPath('$.detail.lines'),
    };
    expect(heard({ pipeline: 'etl', filter, input }, order({ day: '2026-11-30', lines: [1, { a: 2 }] }))).toMatchObject(
      {
        detail: { input: { day: '2026-11-30', from: 'shop', lines: [1, { a: 2 }] } },
      },
    );
    expect(heard({ pipeline: 'etl', filter, input: null }, order({}))).toMatchObject({ detail: { input: null } });
  });

  it('names the runs of a run that ended by that run and its state, whatever event says so', () => {
    const ended = order(
      { runId: 'r1', state: 'SUCCEEDED', hops: 2 },
      { source: 'millrace.scheduler', 'detail-type': 'RunChanged' },
    );
    expect(heard({ pipeline: 'etl', filter: { source: ['millrace.scheduler'] } }, ended)).toMatchObject({
      cause: 'r1 SUCCEEDED',
      heardRun: 'r1',
      head: { hops: 2 },
    });
  });

  it('hears nothing of the intake, and the intake drops it should it all the same', () => {
    const answer = order({ hops: 1 }, { source: 'millrace.intake', 'detail-type': 'RunRejected' });
    expect(heard({ pipeline: 'etl', filter: { 'detail-type': ['RunRejected'] } }, answer)).toBe('not heard');
    expect(heard({ pipeline: 'etl', filter: { source: [{ prefix: 'millrace.' }] } }, answer)).toMatchObject({
      kind: 'own',
    });
  });

  it('feeds the requests queue, may send to it, and keeps what it cannot deliver', () => {
    const { rule, template } = ruleOf({ pipeline: 'etl', filter }, 'own');
    const queues = resourcesOf(template, 'AWS::SQS::Queue');
    const nameAt = (...path: (string | number)[]) =>
      propertyOf(queues.get(String(propertyOf(rule, ...path, 'Fn::GetAtt', 0))), 'QueueName');
    expect(nameAt('Targets', 0, 'Arn')).toBe('millrace-requests');
    expect(nameAt('Targets', 0, 'DeadLetterConfig', 'Arn')).toBe('millrace-requests-dead-letters');
    expect(propertyOf(rule, 'EventBusName')).toBeDefined();
    const policies = [...resourcesOf(template, 'AWS::SQS::QueuePolicy').values()];
    const allowed = policies.filter((policy) => JSON.stringify(policy).includes('TriggersordersRule'));
    expect(allowed).toHaveLength(2);
  });

  it.each<[string, Partial<TriggerOptions>]>([
    ['text that EventBridge takes for a variable', { input: { html: '<b>' } }],
    ['a tag that it takes for one', { tags: { a: '<b>' } }],
    ['a pipeline of such a name', { pipeline: 'a<b>' }],
    ['an input that is too long', { input: 'x'.repeat(5000) }],
  ])('refuses %s', (_name, options) => {
    expect(refusal(filter, options)).toContain('INVALID_TRIGGER: ');
  });

  it('refuses a name that is none, and one that there is already', () => {
    expect(() => stack.millrace.addTrigger('a b', { pipeline: 'etl', filter })).toThrow('1 to 100 letters');
    stack.millrace.addTrigger('twice', { pipeline: 'etl', filter });
    expect(() => stack.millrace.addTrigger('twice', { pipeline: 'etl', filter })).toThrow('twice');
  });
});
