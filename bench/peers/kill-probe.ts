/** Kills what runs a chain in the middle of a node, starts it again, and reads from the nodes' own lines what happened. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kill, Probe } from './peer.ts';
import type { KillResult } from './record.ts';

const LENGTH = 50;
const SLOW_NODE = 21;
const SLOW_MS = 2_000;
/** From the start of the slow node to the kill, and from there to the restart (ms). */
const KILL_AFTER_MS = 500;
const RESTART_AFTER_MS = 1_000;
const LOOK_MS = 20;
const PATIENCE_MS = 60_000;
/** A process that has to be loaded first takes long on a machine that is busy (ms). */
const BEGIN_MS = 300_000;

/** Does it once. */
export async function probe(kill: Kill, folder: string): Promise<KillResult> {
  const log = join(folder, `nodes-${kill.what.replaceAll(/\W+/g, '-')}.log`);
  await writeFile(log, '', { mode: 0o666 });
  const task: Probe = { log, length: LENGTH, slowNode: SLOW_NODE, slowMs: SLOW_MS };
  await kill.begin(task);
  const patienceMs = kill.patienceMs ?? PATIENCE_MS;
  if (!(await untilLine(log, 'start', SLOW_NODE, BEGIN_MS))) throw new Error('the run does not reach its slow node');
  await sleep(KILL_AFTER_MS);
  const killedAt = Date.now();
  await kill.kill();
  await sleep(RESTART_AFTER_MS);
  await kill.restart();
  await untilLine(log, 'end', LENGTH, patienceMs - (Date.now() - killedAt));
  return readResult(await linesOf(log), { what: kill.what, killedAt, patienceMs });
}

interface Line {
  readonly what: string;
  readonly number: number;
  readonly at: number;
}

function readResult(lines: readonly Line[], known: { what: string; killedAt: number; patienceMs: number }): KillResult {
  const { what, killedAt, patienceMs } = known;
  const over = new Set(lines.filter((line) => line.what === 'end' && line.at <= killedAt).map(({ number }) => number));
  const startedLater = lines.filter((line) => line.what === 'start' && line.at > killedAt);
  const end = lines.find((line) => line.what === 'end' && line.number === LENGTH);
  const goesOn = startedLater[0];
  const inFlight = lines.filter(({ number }) => number === SLOW_NODE);
  return {
    what,
    patienceMs,
    ...(end && { endsAfterMs: end.at - killedAt }),
    ...(goesOn && { goesOnAfterMs: goesOn.at - killedAt }),
    ranAgain: new Set(startedLater.map(({ number }) => number).filter((number) => over.has(number))).size,
    inFlightStarts: inFlight.filter((line) => line.what === 'start').length,
    inFlightEnds: inFlight.filter((line) => line.what === 'end').length,
  };
}

async function untilLine(log: string, what: string, number: number, withinMs: number): Promise<boolean> {
  const begun = performance.now();
  while (performance.now() - begun < withinMs) {
    const lines = await linesOf(log);
    if (lines.some((line) => line.what === what && line.number === number)) return true;
    await sleep(LOOK_MS);
  }
  return false;
}

async function linesOf(log: string): Promise<Line[]> {
  const text = await readFile(log, 'utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [what = '', number, at] = line.split(' ');
      return { what, number: Number(number), at: Number(at) };
    });
}
