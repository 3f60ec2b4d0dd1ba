/** Every link in the documentation leads somewhere, and every page can be reached. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { anchors, links, type Page, PROJECT, readPage, readPages } from './docs-pages.ts';

const pages = readPages();

function problemWith(page: Page, target: string): string | undefined {
  if (/^[a-z]+:/.test(target)) return target.startsWith('https://') ? undefined : `${target} is no https address`;
  const [path = '', anchor] = target.split('#');
  const url = path === '' ? new URL(page.path, PROJECT) : new URL(path, new URL(page.path, PROJECT));
  if (!url.href.startsWith(PROJECT.href)) return `${target} leads out of the project`;
  if (!existsSync(url)) return `${target} is not there`;
  if (anchor === undefined) return undefined;
  const linked = readPage(url.href.slice(PROJECT.href.length));
  return anchors(linked).has(anchor) ? undefined : `${target} names no heading`;
}

describe('links of the documentation', () => {
  it('are looked for in all of it', () => {
    expect(pages.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['README.md', 'docs/README.md', 'docs/reference/definition.md', 'examples/README.md']),
    );
    expect(pages.flatMap(links).length).toBeGreaterThan(200);
  });

  it.each(pages)('of $path lead somewhere', (page) => {
    expect(links(page).flatMap((target) => problemWith(page, target) ?? [])).toEqual([]);
  });

  it('reach every page of the reference and of the errors from its index', () => {
    const index = new Set(links(readPage('docs/README.md')).map((target) => target.split('#')[0]));
    const wanted = pages.map(({ path }) => path).filter((path) => /^docs\/(reference|errors)\//.test(path));
    expect(wanted.filter((path) => !index.has(path.slice('docs/'.length)))).toEqual([]);
  });
});
