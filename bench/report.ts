import { cpus, totalmem } from 'node:os';
import { type Bench, type Figure, median } from './bench.ts';

/** What a bench gave. */
export interface Measured {
  readonly bench: Bench;
  readonly figures: readonly Figure[];
}

/** The machine and the runtime, in a line. */
export function machine(): string {
  const [cpu] = cpus();
  const gibibytes = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}, ${gibibytes} GiB, ${process.platform} ${process.arch}, Node ${process.versions.node}`;
}

/** One Markdown table of everything. */
export function toTable(measured: readonly Measured[]): string {
  const rows = measured.flatMap(({ bench, figures }) =>
    figures.map(({ what, values, decimals = 1, aim = '' }, at) => {
      const shown = (value: number) => value.toFixed(decimals);
      const spread = values.length > 1 ? `${shown(Math.min(...values))} to ${shown(Math.max(...values))}` : '';
      return [at === 0 ? bench.name : '', what, shown(median(values)), spread, aim];
    }),
  );
  const head = ['bench', 'figure', 'median', 'least to most', 'aim'];
  const widths = head.map((title, at) => Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0), title.length));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => (at === 2 || at === 3 ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, at) => (at === 2 || at === 3 ? `${'-'.repeat(width + 1)}:` : '-'.repeat(width + 2))).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

/** The same as data: the values of all repetitions. */
export function toJson(measured: readonly Measured[]): object {
  return {
    machine: machine(),
    benches: measured.map(({ bench: { name, title }, figures }) => ({ name, title, figures })),
  };
}
