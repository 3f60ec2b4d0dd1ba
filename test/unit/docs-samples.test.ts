/** What the documentation shows as code is code that works: definitions pass the checks, TypeScript is part of a compiled file. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadDefinition } from '#authoring/index.ts';
import { EVENT_SCHEMAS } from '#http/event-schemas.ts';
import { type CodeBlock, codeBlocks, PROJECT, readPages } from './docs-pages.ts';

/** Pages of errors show what is wrong on purpose; they have a test of their own. */
const blocks = readPages()
  .filter(({ path }) => !path.startsWith('docs/errors/'))
  .flatMap((page) => codeBlocks(page).map((block) => ({ ...block, path: page.path })));

const LANGUAGES = ['', 'json', 'sh', 'ts', 'yaml'];

function of(language: string) {
  return blocks.filter((block) => block.language === language);
}

describe('code in the documentation', () => {
  it('is of a kind that is checked', () => {
    expect(blocks.filter(({ language }) => !LANGUAGES.includes(language))).toEqual([]);
    for (const language of LANGUAGES.slice(1)) expect(of(language).length).toBeGreaterThan(0);
  });

  it.each(of('yaml'))('YAML of $path is a valid definition', ({ text }: CodeBlock) => {
    const isDefinition = Object.hasOwn(parse(text), 'nodes');
    const result = isDefinition ? loadDefinition(text, 'yaml') : { ok: true, errors: [] };
    expect(result.ok ? [] : result.errors).toEqual([]);
  });

  it.each(of('json'))('JSON of $path is what its detail-type says', ({ text }: CodeBlock) => {
    const event = JSON.parse(text);
    // A webhook is given an event in another form.
    const { 'detail-type': type = event.type, detail = event.data } = event;
    expect(EVENT_SCHEMAS[type as keyof typeof EVENT_SCHEMAS].safeParse(detail)).toMatchObject({ success: true });
  });

  it.each(of('ts'))('TypeScript of $path is part of the file that it names', ({ text }: CodeBlock) => {
    const parts = text.split(/^\/\/ (?=\S+\.ts$)/m).filter((part) => part.trim() !== '');
    for (const part of parts) {
      const [file = '', ...lines] = part.split('\n');
      const url = new URL(file, PROJECT);
      // The README tells a reader to write the files of its first pipeline; they are not in the project.
      if (file.startsWith('functions/')) continue;
      expect(existsSync(url), `${file} is not there`).toBe(true);
      expect(readFileSync(url, 'utf8')).toContain(lines.join('\n').trim());
    }
  });

  it.each(of('sh'))('commands of $path name files that are there', ({ text }: CodeBlock) => {
    const files = text.match(/(?<=[\s=])(?:examples|bench|demo|docs|infra)\/[\w./-]+/g) ?? [];
    expect(files.filter((file) => !existsSync(new URL(file, PROJECT)))).toEqual([]);
  });
});
