import { describe, expect, it } from 'vitest';
import { compileTargetInput, type TargetInput } from '#local/input-transformer.ts';

const EVENT = {
  version: '0',
  'detail-type': 'T',
  time: '2026-11-30T10:00:00Z',
  detail: { name: 'a"b', output: '{"x":1}', none: null, count: 3, list: ['p', { q: 1 }], 'odd key': 7 },
};
const IDENTITY = { ruleArn: 'arn:aws:events:us-east-1:000000000000:rule/r', ruleName: 'r' };

function made(target: TargetInput): string {
  return compileTargetInput(target, IDENTITY)({ event: EVENT, text: JSON.stringify(EVENT) });
}

function template(InputTemplate: string, InputPathsMap: Record<string, string> = {}): string {
  return made({ InputTransformer: { InputPathsMap, InputTemplate } });
}

describe('compileTargetInput', () => {
  it('gives the text of the event where the target says nothing', () => {
    const text = '{"detail": {"big": 12345678901234567890}}';
    expect(compileTargetInput({}, IDENTITY)({ event: JSON.parse(text), text })).toBe(text);
  });

  it('gives a constant input, or a part of the event', () => {
    expect(made({ Input: '{"kind":"tick"}' })).toBe('{"kind":"tick"}');
    expect(made({ InputPath: '$.detail.list[1]' })).toBe('{"q":1}');
    expect(made({ InputPath: "$['detail-type']" })).toBe('"T"');
    expect(made({ InputPath: '$' })).toBe(JSON.stringify(EVENT));
    expect(made({ InputPath: '$.detail.missing' })).toBe('null');
  });

  it('fills a JSON template with JSON values', () => {
    const paths = { name: '$.detail.name', output: '$.detail.output', none: '$.detail.none', count: '$.detail.count' };
    const text = template('{"kind":"execution","name":<name>,"output":<output>,"none":<none>,"count":<count>}', paths);
    expect(JSON.parse(text)).toEqual({ kind: 'execution', name: 'a"b', output: '{"x":1}', none: null, count: 3 });
  });

  it('fills quoted places of a JSON template with text', () => {
    const paths = { name: '$.detail.name', list: '$.detail.list', gone: '$.detail.gone' };
    const text = template('{"say":"<name> has \\"<list>\\"<gone>"}', paths);
    expect(JSON.parse(text)).toEqual({ say: 'a"b has "["p",{"q":1}]"' });
  });

  it('puts an empty text for what the event does not have', () => {
    expect(template('{"gone":<gone>}', { gone: '$.detail.gone' })).toBe('{"gone":""}');
  });

  it('fills a text template', () => {
    expect(template('"<name> is <count>"', { name: '$.detail-type', count: '$.detail.count' })).toBe('"T is 3"');
    expect(template('<name> is <count>', { name: '$.detail.name', count: '$.detail.count' })).toBe('a"b is 3');
    expect(template('<list>', { list: '$.detail.list' })).toBe('["p",{"q":1}]');
  });

  it('knows the reserved variables', () => {
    const filled = template(
      '{"rule":<aws.events.rule-name>,"arn":"<aws.events.rule-arn>","event":<aws.events.event.json>}',
    );
    expect(JSON.parse(filled)).toEqual({ rule: 'r', arn: IDENTITY.ruleArn, event: EVENT });
    const { detail: _, ...rest } = EVENT;
    const parts = template('{"event":<aws.events.event>,"at":<aws.events.event.ingestion-time>}');
    expect(JSON.parse(parts)).toEqual({ event: rest, at: EVENT.time });
  });

  it.each([
    ['an unknown variable', { InputTransformer: { InputTemplate: '{"a":<b>}' } }, 'no variable for <b>'],
    ['a reserved name', { InputTransformer: { InputPathsMap: { 'aws.x': '$.id' }, InputTemplate: '1' } }, 'reserved'],
    ['a path that does not begin with $', { InputPath: 'detail.name' }, 'does not begin with $'],
    ['a path that is not understood', { InputPath: '$.detail[*]' }, 'not understood at character 9'],
    ['two ways at once', { Input: '1', InputPath: '$' }, 'exclude each other'],
  ])('refuses %s', (_what, target, message) => {
    expect(() => compileTargetInput(target, IDENTITY)).toThrow(message);
  });
});
