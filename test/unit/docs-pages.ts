/** Reads the documentation: pages, and the tables, code blocks, headings and links of a page. */
import { readdirSync, readFileSync } from 'node:fs';

/** The project. */
export const PROJECT = new URL('../../', import.meta.url);

/** A page. */
export interface Page {
  /** Path in the project. */
  readonly path: string;
  readonly text: string;
}

/** A block between fences. */
export interface CodeBlock {
  /** What stands after the opening fence. */
  readonly language: string;
  readonly text: string;
}

/** Reads one page. */
export function readPage(path: string): Page {
  return { path, text: readFileSync(new URL(path, PROJECT), 'utf8') };
}

/** All pages that are written for readers, by path. */
export function readPages(): Page[] {
  const folders = ['docs/', 'examples/', 'src/', 'infra/', 'bench/', 'demo/'];
  const found = folders.flatMap((folder) =>
    readdirSync(new URL(folder, PROJECT), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}${file}`),
  );
  const top = readdirSync(PROJECT).filter((file) => file.endsWith('.md'));
  return [...top, ...found.filter((path) => path.endsWith('.md') && !path.includes('node_modules'))]
    .sort()
    .map(readPage);
}

/** The code blocks of a page. */
export function codeBlocks({ text }: Page): CodeBlock[] {
  return Array.from(text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm), ([, language = '', block = '']) => ({
    language: language.trim(),
    text: block,
  }));
}

/** A page without its code blocks. */
function prose({ text }: Page): string {
  return text.replaceAll(/^```.*\n[\s\S]*?^```$/gm, '');
}

/** The anchors of a page, as GitHub makes them of headings. */
export function anchors(page: Page): Set<string> {
  const headings = prose(page).matchAll(/^#+ (.*)$/gm);
  return new Set(
    Array.from(headings, ([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(/\s/g, '-'),
    ),
  );
}

/** Where the links of a page lead. */
export function links(page: Page): string[] {
  const inlineCode = /`[^`\n]*`/g;
  const text = prose(page).replaceAll(inlineCode, 'code');
  return Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target);
}

/** A row of a table: its cells by the table's headings, without backquotes and without what links lead to. */
export type Row = ReadonlyMap<string, string>;

/** The rows of the tables below a heading; of the whole page where none is named. */
export function tableRows(page: Page, heading?: string): Row[] {
  const lines = sectionOf(page, heading).split('\n');
  const rows: Row[] = [];
  let columns: readonly string[] | undefined;
  for (const line of lines) {
    if (!line.startsWith('|')) columns = undefined;
    else if (columns === undefined) columns = cells(line);
    else if (!/^[|\s:-]+$/.test(line)) {
      const names = columns;
      rows.push(new Map(cells(line).map((cell, at) => [names[at] ?? '', cell])));
    }
  }
  return rows;
}

/** What one column of the tables below a heading says. */
export function columnOf(page: Page, heading: string | undefined, column: string): string[] {
  return tableRows(page, heading).flatMap((row) => row.get(column) ?? []);
}

function sectionOf(page: Page, heading: string | undefined): string {
  const text = prose(page);
  if (heading === undefined) return text;
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.replace(/^#+ /, '') === heading && line !== heading);
  if (start < 0) throw new Error(`${page.path} has no heading ${heading}`);
  const level = levelOf(lines[start] as string);
  const length = lines.slice(start + 1).findIndex((line) => levelOf(line) > 0 && levelOf(line) <= level);
  return lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n');
}

function levelOf(line: string): number {
  return /^(#+) /.exec(line)?.[1]?.length ?? 0;
}

function cells(line: string): string[] {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) =>
    cell
      .replaceAll('\\|', '|')
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll('`', '')
      .trim(),
  );
}
