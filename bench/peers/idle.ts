/** What processes take up that have nothing to do, with all that they started, read from Linux's /proc. */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long after its start a peer is left alone, and how long it is then watched (ms). */
const SETTLE_MS = 5_000;
const WATCHED_MS = 10_000;
/** /proc counts the time of processors in hundredths of a second. */
const TICK_MS = 10;

/** What an idle peer takes up. */
export interface Idle {
  /** Time of processors, in % of one core. */
  readonly corePercent: number;
  /** Memory in MiB; pages that several processes share count once (PSS). */
  readonly mebibytes: number;
}

/** Watches the trees of processes. @returns undefined where there is no /proc */
export async function watchIdle(roots: readonly number[]): Promise<Idle | undefined> {
  if (process.platform !== 'linux') return undefined;
  await sleep(SETTLE_MS);
  const before = await processorMs(roots);
  const begun = performance.now();
  await sleep(WATCHED_MS);
  const used = (await processorMs(roots)) - before;
  const corePercent = (100 * used) / (performance.now() - begun);
  const sizes = await Promise.all((await treeOf(roots)).map(pssOf));
  return { corePercent, mebibytes: sizes.reduce((sum, size) => sum + size, 0) };
}

async function processorMs(roots: readonly number[]): Promise<number> {
  const all = await Promise.all((await treeOf(roots)).map(statOf));
  // Time of children that ended in the meantime is in their parents' account.
  return all.reduce((sum, { ticks }) => sum + ticks * TICK_MS, 0);
}

async function treeOf(roots: readonly number[]): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(pids.map(async (pid) => ({ pid, parent: (await statOf(pid)).parent })));
  const found = new Set(roots);
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const { pid, parent } of parents) if (found.has(parent)) found.add(pid);
  }
  return [...found];
}

async function statOf(pid: number): Promise<{ parent: number; ticks: number }> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name in brackets may hold spaces.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const ticks = fields.slice(11, 15).reduce((sum, part) => sum + part, 0);
  return { parent: fields[1] ?? Number.NaN, ticks };
}

async function pssOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1024;
}
