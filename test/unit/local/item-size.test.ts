import { describe, expect, it } from 'vitest';
import { itemBytes } from '#local/item-size.ts';

describe('itemBytes', () => {
  it.each([
    ['text by its UTF-8 bytes', { S: 'grüße' }, 7],
    ['binary by what base64 stands for', { B: Buffer.alloc(10).toString('base64') }, 10],
    ['a boolean', { BOOL: false }, 1],
    ['null', { NULL: true }, 1],
    ['zero', { N: '0' }, 1],
    ['two significant digits in a byte, and one', { N: '1234' }, 3],
    ['an odd number of digits', { N: '123' }, 3],
    ['zeros at the ends not at all', { N: '0012300' }, 3],
    ['decimals like other digits', { N: '1.25' }, 3],
    ['a sign', { N: '-12' }, 3],
    ['an exponent not at all', { N: '1e100' }, 2],
    ['sets', { SS: ['a', 'bc'] }, 3],
    ['sets of numbers', { NS: ['12', '3'] }, 4],
    ['lists with 3 bytes and 1 for each element', { L: [{ S: 'ab' }, { NULL: true }] }, 3 + 2 + 3],
    ['maps with 3 bytes and 1 for each entry', { M: { ab: { S: 'cd' } } }, 3 + 1 + 4],
    ['an empty text', { S: '' }, 0],
  ])('counts %s', (_what, value, bytes) => {
    expect(itemBytes({ name: value })).toBe('name'.length + bytes);
  });
});
