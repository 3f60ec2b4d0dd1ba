/** The model's answer as text, and its inputs with where they come from. */
import type { Inputs } from './inputs.ts';
import type { Simulated } from './simulate.ts';

/** Markdown: a table a way, its last row the whole. */
export function toText(simulated: readonly Simulated[]): string {
  return simulated.map(tableOf).join('\n\n');
}

function tableOf({ title, total, stages }: Simulated): string {
  const rows = [...stages, { name: '**the hop**', ...total, share: 1 }].map(({ name, p50, p95, p99, share }) => [
    name,
    ms(p50),
    ms(p95),
    ms(p99),
    `${(share * 100).toFixed(1)} %`,
  ]);
  return markdown([`${title}, ms`, 'p50', 'p95', 'p99', 'share of the mean'], rows);
}

/** One row an input. */
export function inputsText(inputs: Inputs): string {
  const rows = [...inputs].map(([name, { value, unit, basis, source, what }]) => [
    name,
    `${value} ${unit}`,
    basis,
    source ? `${what} (${source.url}, ${source.date})` : what,
  ]);
  return markdown(['input', 'value', 'basis', 'what it is'], rows, [1]);
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[], numbers?: readonly number[]): string {
  const isNumber = (at: number) => (numbers ? numbers.includes(at) : at > 0);
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  // The last column is padded only where it is a number, so that lines are no longer than they have to be.
  const cell = (text: string, at: number) => {
    if (isNumber(at)) return text.padStart(widths[at] as number);
    return at === head.length - 1 ? text : text.padEnd(widths[at] as number);
  };
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  const rule = `|${widths.map((width, at) => (isNumber(at) ? `${'-'.repeat(width + 1)}:` : '-'.repeat(Math.min(width, 40) + 2))).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

function ms(value: number): string {
  return value.toFixed(value < 100 ? 1 : 0);
}
