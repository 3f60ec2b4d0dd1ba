import { benches } from './benches.ts';
import { measureBench } from './measure-bench.ts';
import { readOptions } from './options.ts';
import { measurePeers } from './peers/measure-peers.ts';
import { peers } from './peers/peers.ts';
import { saveRecord } from './peers/picture.ts';
import { toTables } from './peers/table.ts';
import { type Measured, machine, toJson, toTable } from './report.ts';

const options = readOptions(
  process.argv.slice(2),
  benches.map(({ name }) => name),
  peers.map(({ name }) => name),
);
const say = (line: string) => process.stderr.write(`${line}\n`);
const begun = performance.now();
const sayWhen = (progress: string) =>
  say(`${((performance.now() - begun) / 1000).toFixed(1).padStart(8)} s  ${progress}`);

say(machine());
process.stdout.write(options.peers === undefined ? await runBenches() : await runPeers(options.peers));

async function runBenches(): Promise<string> {
  const chosen = benches.filter(({ name, isLong }) => options.only?.includes(name) ?? !isLong);
  const measured: Measured[] = [];
  for (const bench of chosen) {
    say(`${bench.name}: ${bench.title}`);
    measured.push({ bench, figures: await measureBench(bench.name, sayWhen) });
  }
  return options.json ? toText(toJson(measured)) : `\n${toTable(measured)}\n`;
}

async function runPeers(chosen: true | readonly string[]): Promise<string> {
  const record = await measurePeers(
    peers.filter(({ name, isLong }) => (chosen === true ? !isLong : chosen.includes(name))),
    sayWhen,
  );
  if (options.save) await saveRecord(record);
  return options.json ? toText(record) : `\n${toTables(record)}\n`;
}

function toText(document: object): string {
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
