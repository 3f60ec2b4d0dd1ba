import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EngineState, LimitRecord } from '#domain/limit.ts';
import { DamagedLimitError, NewerLimitError, packLimit, unpackLimit } from '#domain/limit-codec.ts';

const count = fc.nat({ max: 1_000_000_000 });
const time = fc.nat({ max: 4_000_000_000_000 });
const text = fc.string({ unit: 'binary', maxLength: 12 });
const flag = fc.constant(true as const);

const holder = fc.record(
  { run: text, nonce: text, pipeline: text, granted: count, returned: count, unheard: flag },
  { requiredKeys: ['run', 'nonce', 'pipeline', 'granted', 'returned'] },
);

const engine = fc.record(
  {
    generation: count,
    stateMachineArn: text,
    labels: fc.array(fc.tuple(text, text), { maxLength: 3 }),
    paramsSchema: fc
      .dictionary(fc.oneof(text, fc.constant('__proto__')), fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true })
      .map((schema) => JSON.parse(JSON.stringify(schema)) as NonNullable<EngineState['paramsSchema']>),
    heartbeatSeconds: count,
    lastHeartbeatAt: time,
    isDraining: flag,
    trouble: text,
    updatedAt: time,
  },
  { requiredKeys: ['generation', 'stateMachineArn', 'labels', 'updatedAt'] },
);

const limit: fc.Arbitrary<LimitRecord> = fc.record(
  {
    name: text,
    rev: count,
    slots: count,
    pausedAt: time,
    engine,
    generations: count,
    holders: fc.array(holder, { maxLength: 5 }),
    lastServed: text,
    ringsWaiting: flag,
    tellsPipelines: flag,
    dueAt: time,
  },
  { requiredKeys: ['name', 'rev', 'holders'] },
);

const plain = packLimit({ name: 'pool/db', rev: 3, slots: 2, holders: [] });

describe('the text form of a limit', () => {
  it('U12 loses nothing', () => {
    fc.assert(
      fc.property(limit, (given) => {
        const read = unpackLimit(packLimit(given));
        expect(read).toEqual(given);
        expect(JSON.stringify(read.engine?.paramsSchema)).toBe(JSON.stringify(given.engine?.paramsSchema));
      }),
    );
  });

  it('is short where there is little to say', () => {
    expect(plain).toEqual({ name: 'pool/db', schemaVersion: 1, rev: 3, body: '{"s":2}' });
  });

  it('U13 of newer code is left to newer code', () => {
    const newer = { ...plain, schemaVersion: 2, body: '{"odd":1}' };
    expect(() => unpackLimit(newer)).toThrow(NewerLimitError);
  });

  it.each(['', '{', 'null', '[]', '{"odd":1}', '{"s":"2"}', '{"s":1.5}', '{"h":[["r","n","p",1,0,2]]}', '{"r":0}'])(
    'is told from a damaged one: %s',
    (body) => {
      expect(() => unpackLimit({ ...plain, body })).toThrow(DamagedLimitError);
    },
  );

  it('of any bytes is a limit or damaged, and nothing else', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (body) => {
        try {
          unpackLimit({ ...plain, body });
        } catch (error) {
          expect(error).toBeInstanceOf(DamagedLimitError);
        }
      }),
    );
  });
});
