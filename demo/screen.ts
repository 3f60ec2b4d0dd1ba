import { styleText } from 'node:util';

/** A way to make text stand out. */
export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';

/** Text in a style, where the output is a terminal and `NO_COLOR` is not set. */
export function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

/** Prints one line. */
export function line(text = ''): void {
  process.stdout.write(`${text}\n`);
}

/** Prints a heading after an empty line. */
export function heading(text: string): void {
  line();
  line(styled('bold', text));
}

/** Prints a table; the first column is aligned to the left, the others to the right. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const lineOf = (row: readonly string[]) =>
    `  ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join('   ')}`;
  line(styled('dim', lineOf(head)));
  for (const row of rows) line(lineOf(row));
}

/** Milliseconds as people read them: `85 ms`, `1.24 s`. */
export function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(2)} s`;
}

/** A count with thousands separators. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}
