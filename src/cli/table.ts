import stringWidth from 'string-width';
import type { Style } from './output.ts';

/** A column of a table. */
export interface Column {
  readonly title: string;
  /** @default 'left' */
  readonly align?: 'left' | 'right';
}

/** A cell: its text, and how it is coloured once the widths are known. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string };

/** Space between two columns. */
const GAP = '   ';
/** The last column keeps at least this width, however narrow the terminal is. */
const LEAST_LAST_WIDTH = 20;

/** How wide a table may be. */
interface TableSpace {
  readonly style: Style;
  /** The last column is cut to it, but for its least width. */
  readonly maxWidth: number;
  /** Whether the other columns are cut as well where that is not enough: for what must not wrap. @default false */
  readonly fits?: boolean;
}

/** Lays out a table, two blanks from the left. Cells are aligned by their width on the screen. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  { style, maxWidth, fits = false }: TableSpace,
): string[] {
  const widths = columns.map(({ title }, index) =>
    rows.reduce((widest, row) => Math.max(widest, stringWidth(textOf(row[index]))), title.length),
  );
  const before = () => widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 2);
  const last = widths.length - 1;
  widths[last] = Math.min(widths[last] ?? 0, Math.max(fits ? 0 : LEAST_LAST_WIDTH, maxWidth - before()));
  if (fits) shrink(widths, before() + (widths[last] ?? 0) - maxWidth);
  const lineOf = (cells: readonly Cell[]) =>
    `  ${columns.map((column, index) => fitted(cells[index] ?? '', widths[index] ?? 0, column)).join(GAP)}`.trimEnd();
  const head = style.dim(lineOf(columns.map(({ title }) => title)));
  return [head, ...rows.map(lineOf)];
}

/** Takes so much off the widest columns. */
function shrink(widths: number[], excess: number): void {
  for (let left = excess; left > 0; left--) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = Math.max(0, (widths[widest] ?? 0) - 1);
  }
}

function textOf(cell: Cell | undefined): string {
  return typeof cell === 'object' ? cell.text : (cell ?? '');
}

function fitted(cell: Cell, width: number, { align = 'left' }: Column): string {
  const text = cutTo(textOf(cell), width);
  const padding = paddingOf(text, width);
  const painted = typeof cell === 'object' ? cell.paint(text) : text;
  return align === 'left' ? `${painted}${padding}` : `${padding}${painted}`;
}

function paddingOf(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - stringWidth(text)));
}

/** Fills a text up to a width on the screen; longer ones stay as they are. */
export function padTo(text: string, width: number): string {
  return `${text}${paddingOf(text, width)}`;
}

/** Cuts a text to a width on the screen, never inside a character that people see as one. */
export function cutTo(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  if (width <= 0) return '';
  let kept = '';
  let used = 1;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += stringWidth(segment);
    if (used > width) break;
    kept += segment;
  }
  return `${kept}…`;
}
