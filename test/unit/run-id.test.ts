import { describe, expect, it } from 'vitest';
import { isRunId } from '#domain/execution-name.ts';
import { deriveRunId, hashInput, isIdempotencyKey } from '#domain/run-id.ts';

describe('deriveRunId', () => {
  it('gives an id of the usual form, the same for the same cause', () => {
    const id = deriveRunId('etl', 'aaaaaaaa', { kind: 'key', key: 'k' });
    expect(isRunId(id)).toBe(true);
    expect(deriveRunId('etl', 'aaaaaaaa', { kind: 'key', key: 'k' })).toBe(id);
  });

  it('tells pipelines, incarnations, kinds and keys apart', () => {
    const ids = [
      deriveRunId('etl', 'aaaaaaaa', { kind: 'key', key: 'k' }),
      deriveRunId('etl', 'aaaaaaaa', { kind: 'event', eventId: 'k' }),
      deriveRunId('etl', 'bbbbbbbb', { kind: 'key', key: 'k' }),
      deriveRunId('etl2', 'aaaaaaaa', { kind: 'key', key: 'k' }),
      deriveRunId('etl', 'aaaaaaaa', { kind: 'key', key: 'k2' }),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('isIdempotencyKey', () => {
  it('takes 1 to 255 printable characters', () => {
    for (const key of ['k', 'order 7', 'ключ', '"quoted"', 'x'.repeat(255), '😀'.repeat(255)]) {
      expect(isIdempotencyKey(key), key).toBe(true);
    }
    for (const key of ['', ' ', 'x'.repeat(256), 'a\nb', 'a\u0000', '\ud800'])
      expect(isIdempotencyKey(key), key).toBe(false);
  });
});

describe('hashInput', () => {
  it('does not depend on the order of keys, and on everything else', () => {
    expect(hashInput({ a: 1, b: [1, 2] })).toBe(hashInput({ b: [1, 2], a: 1 }));
    const inputs = [{}, null, 0, '0', [], { a: 1 }, { a: '1' }, { a: [2, 1] }, { a: [1, 2] }];
    expect(new Set(inputs.map(hashInput)).size).toBe(inputs.length);
  });
});
