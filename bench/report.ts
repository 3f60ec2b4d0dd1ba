import { cpus, totalmem } from 'node:os';
import { type Bench, type Figure, median } from './bench.ts';

/** What a bench gave. */
export interface Measured {
  readonly bench: Bench;
  readonly figures: readonly Figure[];
}

/** Marks a figure that is above its aim. */
const MISSED = '✗';

/** The machine and the runtime, in a line. */
export function machine(): string {
  const [cpu] = cpus();
  const gibibytes = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}, ${gibibytes} GiB, ${process.platform} ${process.arch}, Node ${process.versions.node}`;
}

/** Markdown: one table of everything, but for what has tables of its own. */
export function toTable(measured: readonly Measured[]): string {
  const rows = measured.flatMap(({ bench, figures }) =>
    figures
      .filter(({ table }) => table === undefined)
      .map((figure, at) => [
        at === 0 ? bench.name : '',
        figure.what,
        cellOf(figure),
        spreadOf(figure),
        figure.aim ?? '',
      ]),
  );
  const whole = rows.length > 0 ? [markdown(['bench', 'figure', 'median', 'least to most', 'aim'], rows, [2, 3])] : [];
  return [...whole, ...measured.flatMap(ownTables)].join('\n\n');
}

/** Tables whose columns are compared with one another. */
function ownTables({ bench, figures }: Measured): string[] {
  const byTable = Map.groupBy(figures, ({ table }) => table);
  return [...byTable].flatMap(([table, cells]) => {
    if (table === undefined) return [];
    const columns = [...new Set(cells.map(({ column = '' }) => column))];
    const byRow = Map.groupBy(cells, ({ what }) => what);
    const rows = [...byRow].map(([what, row]) => {
      const shown = columns.map((column) => {
        const figure = row.find((cell) => (cell.column ?? '') === column);
        return figure ? cellOf(figure) : '';
      });
      return [what, ...shown, row.find(({ aim }) => aim !== undefined)?.aim ?? ''];
    });
    const title = `${bench.name}: ${table} (${MISSED}: an aim is missed)`;
    const right = columns.map((_, at) => at + 1);
    return [`${title}\n\n${markdown(['', ...columns, 'aim'], rows, right)}`];
  });
}

function cellOf({ values, decimals = 1, most }: Figure): string {
  const value = median(values);
  // What is shown decides: a figure that reads like its aim meets it.
  const isMissed = most !== undefined && Number(value.toFixed(decimals)) > most;
  return `${value.toFixed(decimals)}${isMissed ? ` ${MISSED}` : ''}`;
}

function spreadOf({ values, decimals = 1 }: Figure): string {
  if (values.length <= 1) return '';
  return `${Math.min(...values).toFixed(decimals)} to ${Math.max(...values).toFixed(decimals)}`;
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[], right: readonly number[]): string {
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)));
  const isRight = (at: number) => right.includes(at);
  const padded = (cell: string, at: number) =>
    isRight(at) ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0);
  const line = (cells: readonly string[]) => `| ${cells.map(padded).join(' | ')} |`;
  const rule = `|${widths.map((width, at) => (isRight(at) ? `${'-'.repeat(width + 1)}:` : '-'.repeat(width + 2))).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

/** The same as data: the values of all repetitions. */
export function toJson(measured: readonly Measured[]): object {
  return {
    machine: machine(),
    benches: measured.map(({ bench: { name, title }, figures }) => ({ name, title, figures })),
  };
}
