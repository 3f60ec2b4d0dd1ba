/** The figures of runs that a quiet world played, and how they grow. */
import type { Figure } from './bench.ts';
import { growth } from './growth.ts';
import type { Played } from './quiet-world.ts';
import type { Written } from './written-items.ts';

const LEAST_SHOWN = 0.005;

/** A run of so many parts, played alone for its time, and once more for what it writes. */
export interface PlayedSize {
  readonly size: number;
  readonly timed: Played;
  readonly measured: Played;
}

/** The figures of one size after the other, then the exponents. `part`: what a run has many of, `item` or `node`. */
export function playedFigures(part: string, sizes: readonly PlayedSize[]): Figure[] {
  const points = (of: (played: PlayedSize) => number) => sizes.map((played) => [played.size, of(played)] as const);
  return [
    ...sizes.flatMap((played) => figuresOf(part, played)),
    ...sizes.slice(-1).flatMap((played) => callsAndItems(part, played)),
    growth(
      'seconds of the processor',
      points(({ timed }) => timed.cpuSeconds),
    ),
    growth(
      'commits',
      points(({ timed }) => callsOf(timed, 'runs.commitRun')),
    ),
    growth(
      'port calls',
      points(({ timed }) => allCalls(timed)),
    ),
    growth(
      'bytes written',
      points(({ measured }) => allWritten(measured).bytes),
    ),
    growth(
      'write units',
      points(({ measured }) => allWritten(measured).units),
    ),
  ];
}

function figuresOf(part: string, { size, timed, measured }: PlayedSize): Figure[] {
  const figure = toFigure(part, size);
  const aggregate = measured.written.get('commitRun');
  return [
    figure('seconds', timed.seconds),
    figure('seconds of the processor', timed.cpuSeconds),
    figure('passes', timed.batches, 0),
    figure('commits', callsOf(timed, 'runs.commitRun'), 0),
    figure(`port calls per ${part}`, allCalls(timed) / size),
    figure(`bytes written per ${part}`, allWritten(measured).bytes / size, 0),
    figure(`write units per ${part}`, allWritten(measured).units / size),
    figure(`of these for indexes per ${part}`, allWritten(measured).indexUnits / size),
    figure('mean aggregate, bytes', (aggregate?.bytes ?? 0) / (aggregate?.items ?? 1), 0),
    figure('largest aggregate, bytes', aggregate?.largest ?? 0, 0),
  ];
}

/** By the name of the call, as far as it is made more than once in a hundred parts. */
function callsAndItems(part: string, { size, timed, measured }: PlayedSize): Figure[] {
  const figure = toFigure(part, size);
  const often = [...timed.counts].filter(([, { calls }]) => calls / size >= LEAST_SHOWN);
  const much = [...measured.written].filter(([, { bytes }]) => bytes / size >= 1);
  return [
    ...often.map(([name, { calls }]) => figure(`${name} per ${part}`, calls / size)),
    ...much.map(([name, { bytes }]) => figure(`bytes by ${name} per ${part}`, bytes / size, 0)),
    ...much.map(([name, { units }]) => figure(`write units by ${name} per ${part}`, units / size)),
  ];
}

function toFigure(part: string, size: number) {
  return (what: string, value: number, decimals = 2): Figure => ({
    what: `${size} ${part}s: ${what}`,
    values: [value],
    decimals,
  });
}

function callsOf({ counts }: Played, name: string): number {
  return counts.get(name)?.calls ?? 0;
}

function allCalls({ counts }: Played): number {
  return [...counts.values()].reduce((sum, { calls }) => sum + calls, 0);
}

function allWritten({ written }: Played): Pick<Written, 'bytes' | 'units' | 'indexUnits'> {
  const all = [...written.values()];
  return {
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    units: all.reduce((sum, { units }) => sum + units, 0),
    indexUnits: all.reduce((sum, { indexUnits }) => sum + indexUnits, 0),
  };
}
