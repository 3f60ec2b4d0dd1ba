/** Every error name that Millrace gives by itself has a page, and every page says what to do. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PROJECT, readPage } from './docs-pages.ts';

const sources = ['src/', 'functions/'].flatMap((folder) =>
  readdirSync(new URL(folder, PROJECT), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(new URL(`${folder}${file}`, PROJECT), 'utf8')),
);
const names = [...new Set(sources.join('\n').match(/(?<=['"`])Millrace\.[A-Z][A-Za-z]+(?=['"`])/g))].sort();
const pages = readdirSync(new URL('docs/errors/', PROJECT)).map((file) => file.replace(/\.md$/, ''));

describe('names of errors', () => {
  it('are found in the sources', () => {
    expect(names).toEqual(expect.arrayContaining(['Millrace.ExpressionError', 'Millrace.ItemsFailed']));
  });

  it('have a page each', () => {
    expect(names.filter((name) => !pages.includes(name))).toEqual([]);
  });

  it('have no page where nothing gives them any more', () => {
    expect(pages.filter((name) => name.startsWith('Millrace.') && !names.includes(name))).toEqual([]);
  });
});

it.each(pages)('the page of %s has its name and says what to do', (name) => {
  const { text } = readPage(`docs/errors/${name}.md`);
  expect(text.startsWith(`# ${name}\n`)).toBe(true);
  expect(text).toMatch(/^## What to do\n\n\S/m);
});
