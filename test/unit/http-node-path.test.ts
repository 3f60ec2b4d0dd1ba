import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromNodePath, toNodePath } from '#http/node-path.ts';

describe('toNodePath', () => {
  it('leaves plain ids as they are, and encodes the others', () => {
    expect(toNodePath('load_2.v-1')).toBe('load_2.v-1');
    expect(toNodePath('a b')).toBe('b64.YSBi');
    expect(toNodePath('b64.x')).toBe(`b64.${Buffer.from('b64.x').toString('base64url')}`);
    expect(toNodePath('..')).toBe('b64.Li4');
  });

  it('comes back by fromNodePath, for every id, in characters that any HTTP API carries', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (id) => {
        const segment = toNodePath(id);
        expect(segment).toMatch(/^[A-Za-z0-9._-]+$/);
        expect(fromNodePath(segment)).toBe(id);
      }),
    );
  });
});

describe('fromNodePath', () => {
  it('refuses what no id has as its form', () => {
    for (const segment of ['a b', 'a/b', 'b64.*', 'b64.YSBi=', 'b64._w', '']) {
      expect(fromNodePath(segment), segment).toBeUndefined();
    }
  });

  it('keeps a byte order mark, which is a character of the id', () => {
    expect(fromNodePath(toNodePath('\uFEFFa'))).toBe('\uFEFFa');
  });
});
