import { describe, expect, it } from 'vitest';
import { counted, countsText } from '../../src/cli/counts-text.ts';
import { oneLine } from '../../src/cli/one-line.ts';
import { cutTo, tableLines } from '../../src/cli/table.ts';
import { ago, duration, forHowLong } from '../../src/cli/time-text.ts';
import { screen } from './cli-capture.ts';

describe('duration', () => {
  it.each([
    [0, '0 ms'],
    [-5, '0 ms'],
    [85.4, '85 ms'],
    [999.4, '999 ms'],
    [999.6, '1.00 s'],
    [1240, '1.24 s'],
    [59_994, '59.99 s'],
    [59_996, '1 min'],
    [125_000, '2 min 5 s'],
    [3_599_400, '59 min 59 s'],
    [3_599_600, '1 h'],
    [11_520_000, '3 h 12 min'],
    [86_400_000, '1 d'],
    [187_200_000, '2 d 4 h'],
  ])('writes %d ms as %s', (milliseconds, text) => {
    expect(duration(milliseconds)).toBe(text);
  });
});

describe('ago', () => {
  const now = Date.parse('2026-11-30T12:00:00.000Z');

  it('counts up to a day, and gives the date after that', () => {
    expect(ago(now - 300, now)).toBe('less than 1 s ago');
    expect(ago(now - 12_900, now)).toBe('12 s ago');
    expect(ago(now - 3_900_000, now)).toBe('1 h 5 min ago');
    expect(ago(now - 90_000_000, now)).toMatch(/^2026-11-\d\d \d\d:\d\d:\d\d$/);
    expect(forHowLong(now - 61_000, now)).toBe('for 1 min 1 s');
  });

  it('bears clocks that are not the same', () => {
    expect(ago(now + 5000, now)).toBe('less than 1 s ago');
  });
});

describe('oneLine', () => {
  it('takes line breaks, colours and other control characters out of foreign text', () => {
    expect(oneLine('a\r\n  b\u001B[31m\u001B]0;title\u0007c\u202Ed\u0000e')).toBe('a bc d e');
  });

  it('cuts long text between characters', () => {
    expect(oneLine(`${'x'.repeat(498)}😀😀`)).toBe(`${'x'.repeat(498)}…`);
    expect(oneLine('abcdef', 4)).toBe('abc…');
  });
});

describe('tableLines', () => {
  it('aligns by width on the screen and cuts the last column', () => {
    const columns = [{ title: 'node' }, { title: 'n', align: 'right' }, { title: 'note' }] as const;
    const rows = [
      ['数据', '7', 'a note that is longer than there is room for'],
      ['plain', '123', 'short'],
    ];
    expect(tableLines(columns, rows, { style: screen().style, maxWidth: 42 })).toEqual([
      '  node      n   note',
      '  数据      7   a note that is longer tha…',
      '  plain   123   short',
    ]);
  });

  it('keeps characters whole when it cuts', () => {
    expect(cutTo('👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧', 5)).toBe('👩‍👩‍👧👩‍👩‍👧…');
  });
});

describe('countsText', () => {
  it('orders states from done to not begun', () => {
    expect(countsText({ PENDING: 1200, RUNNING: 1, NEW_STATE: 2, FAILED: 1, SUCCEEDED: 3, SKIPPED: 0 })).toBe(
      '3 SUCCEEDED, 1 FAILED, 1 RUNNING, 1,200 PENDING, 2 NEW_STATE',
    );
    expect([counted(1, 'node'), counted(1004, 'node')]).toEqual(['1 node', '1,004 nodes']);
  });
});
