import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { BenchMessage, Figure } from './bench.ts';
import { benches } from './benches.ts';
import { readOptions } from './options.ts';
import { type Measured, machine, toJson, toTable } from './report.ts';

const options = readOptions(
  process.argv.slice(2),
  benches.map(({ name }) => name),
);
const say = (line: string) => process.stderr.write(`${line}\n`);

/** Runs a bench in a process of its own, so that none finds memory or compiled code of another. */
async function measure(name: string): Promise<readonly Figure[]> {
  const begun = performance.now();
  const child = fork(fileURLToPath(new URL('bench-process.ts', import.meta.url)), [name]);
  let figures: readonly Figure[] | undefined;
  child.on('message', (message: BenchMessage) => {
    if ('figures' in message) figures = message.figures;
    else say(`${((performance.now() - begun) / 1000).toFixed(1).padStart(8)} s  ${message.progress}`);
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (figures === undefined) throw new Error(`the bench ${name} ended with code ${code}`);
  return figures;
}

const measured: Measured[] = [];
say(machine());
for (const bench of benches.filter(({ name }) => options.only?.includes(name) ?? true)) {
  say(`${bench.name}: ${bench.title}`);
  measured.push({ bench, figures: await measure(bench.name) });
}
process.stdout.write(options.json ? `${JSON.stringify(toJson(measured), undefined, 2)}\n` : `\n${toTable(measured)}\n`);
