import { styleText } from 'node:util';

/** A way to make text stand out. */
export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';

/** Text in a style, where the output is a terminal and `NO_COLOR` is not set. */
export function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

/** Prints one line. */
export function line(text = ''): void {
  process.stdout.write(`${text.trimEnd()}\n`);
}

/** Prints a heading after an empty line. */
export function heading(text: string): void {
  line();
  line(styled('bold', text));
}

/** Prints a table; `l` and `r` in `align` say for each column whether it is aligned to the left or to the right. */
export function printTable(align: string, head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const padded = (cell: string, column: number) =>
    align[column] === 'l' ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const textOf = (row: readonly string[]) => `  ${row.map(padded).join('   ')}`.trimEnd();
  line(styled('dim', textOf(head)));
  for (const row of rows) line(textOf(row));
}

/** Milliseconds as people read them: `85 ms`, `1.24 s`. */
export function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(2)} s`;
}

/** A count with thousands separators. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}
