/** Every code has its page, and the example on a page really has that error. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type InvalidDefinitionError, importWfCommons, loadDefinition } from '#authoring/index.ts';
import type { DefinitionError } from '#domain/definition.ts';

const root = new URL('../../', import.meta.url);
const sources = ['src/domain/', 'src/authoring/'].flatMap((folder) =>
  readdirSync(new URL(folder, root))
    .filter((file) => folder === 'src/authoring/' || /^(?:definition|json-t)/.test(file))
    .map((file) => readFileSync(new URL(`${folder}${file}`, root), 'utf8')),
);
const codes = [...new Set(sources.join('\n').match(/(?<=code: ')[A-Z_]+(?=')/g))].sort();

function pageOf(code: string): string {
  return readFileSync(new URL(`docs/errors/${code}.md`, root), 'utf8');
}

function errorsOf(language: string, text: string): readonly DefinitionError[] {
  if (language === 'json wfformat') {
    try {
      importWfCommons(text);
    } catch (error) {
      return (error as InvalidDefinitionError).errors;
    }
    return [];
  }
  const result = loadDefinition(text, language as 'json' | 'yaml');
  return result.ok ? [] : result.errors;
}

describe('pages of definition errors', () => {
  it('are looked for under every code in the sources', () => {
    expect(codes.length).toBeGreaterThan(20);
    expect(codes).toContain('CYCLE');
  });

  it.each(codes)('%s says what it means and what to do', (code) => {
    const page = pageOf(code);
    expect(page.startsWith(`# ${code}\n`)).toBe(true);
    expect(page).toContain('## What to do');
    const example = /```(json wfformat|json|yaml)\n(.*?)\n```/s.exec(page);
    if (example === null) return;
    const [, language, text] = example as unknown as [string, string, string];
    expect(new Set(errorsOf(language, text).map((error) => error.code))).toEqual(new Set([code]));
  });
});
