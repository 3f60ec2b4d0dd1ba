/** The scenarios of prior art: each is in the table of `test/README.md`, with a test that says its number or a reason. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const README = new URL('../README.md', import.meta.url);
/** How many there are of each letter. */
const SCENARIOS = { T: 48, U: 21 };
const NUMBERS = Object.entries(SCENARIOS).flatMap(([letter, count]) =>
  Array.from({ length: count }, (_, at) => `${letter}${at + 1}`),
);

const rows = new Map(
  readFileSync(README, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, number, what, where] = /^\| ([TU]\d+) +\| (.*?) +\| (.*?) +\|$/.exec(line) ?? [];
      return number && what && where ? [[number, { what, where }] as const] : [];
    }),
);

/** Whether a title of the file begins with this number, or with several of which this is one. */
function isNamedIn(file: string, number: string): boolean {
  const text = readFileSync(new URL(file, README), 'utf8');
  return new RegExp(`['"\`](?:[A-Z]\\d+,? )*${number}\\b`).test(text);
}

describe('scenarios of prior art', () => {
  it('are in the table, in order, and no others', () => {
    expect([...rows.keys()]).toEqual(NUMBERS);
  });

  it.each(NUMBERS)('%s is in the title of each test that the table names for it, or has a reason', (number) => {
    const { where = '' } = rows.get(number) ?? {};
    const files = [...where.matchAll(/\]\(([^)]+)\)/g)].map(([, file]) => file as string);
    if (files.length === 0) expect(where).toMatch(/^none: .{30,}/);
    for (const file of files) expect(isNamedIn(file, number), file).toBe(true);
  });
});
