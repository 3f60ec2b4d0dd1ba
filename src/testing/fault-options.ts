/** Which things go wrong in the fault worlds of a test, drawn by a seed. */
import { type Chooser, chooser } from './chooser.ts';
import type { Faults, OperationFault } from './faults.ts';

/** What may go wrong. In each world about half of it does, here and there. */
export interface FaultKinds {
  /** Functions of Millrace die, before or after a call took effect. */
  readonly kill?: boolean;
  /** They stand still for a while, for longer than their time limit too. */
  readonly freeze?: boolean;
  /** Calls fail, whether or not they took effect. */
  readonly fail?: boolean;
  /** Step Functions throttles, or answers nothing for minutes. */
  readonly throttle?: boolean;
  /** Events and rings are lost, some or all. */
  readonly dropEvents?: boolean;
  /** They come more than once, to two at the same time too. */
  readonly repeatEvents?: boolean;
  /** They come late, by up to two minutes. */
  readonly delayEvents?: boolean;
  /** Ticks do not come. */
  readonly skipTicks?: boolean;
  /** Clocks are off by up to two seconds, in either direction. */
  readonly skewClocks?: boolean;
  /** What is read of Step Functions and of the due index lags. */
  readonly staleReads?: boolean;
}

/** Worlds in which things go wrong. */
export interface FaultOptions extends FaultKinds {
  /** Decides the first world; the next one has the next number. @default 1 */
  readonly seed?: number;
  /** How many worlds are tried. @default 50 */
  readonly runs?: number;
  /**
   * What has to be as where nothing goes wrong: the state of the run; that of each node, too; or outputs and errors, too.
   * @default 'outputs'
   */
  readonly compare?: 'run' | 'states' | 'outputs';
}

/** All kinds of faults. */
export const FAULT_KINDS = [
  'kill',
  'freeze',
  'fail',
  'throttle',
  'dropEvents',
  'repeatEvents',
  'delayEvents',
  'skipTicks',
  'skewClocks',
  'staleReads',
] as const satisfies readonly (keyof FaultKinds)[];

type Kind = (typeof FAULT_KINDS)[number];

/** The kinds that are asked for: all, where none is named. */
export function kindsOf(faults: FaultKinds): readonly Kind[] {
  const named = FAULT_KINDS.filter((kind) => faults[kind]);
  return named.length > 0 ? named : FAULT_KINDS.filter((kind) => faults[kind] !== false);
}

/**
 * The faults of a world.
 * @param operations how many operations the run takes where nothing goes wrong
 */
export function drawFaults(kinds: readonly Kind[], seed: number, operations: number): Faults {
  const choose = chooser(seed * 7919);
  const on = new Set(kinds.length === 1 ? kinds : kinds.filter(() => choose(2) === 0));
  const at = new Map<number, OperationFault>();
  for (const kind of ['kill', 'freeze', 'fail'] as const) {
    if (!on.has(kind)) continue;
    for (let count = 1 + choose(4); count > 0; count--) at.set(choose(operations * 2), drawFault(kind, choose));
  }
  return {
    choose,
    at,
    ...(on.has('throttle') && drawThrottle(choose)),
    ...(on.has('dropEvents') && { loseOneIn: 1 + choose(4) }),
    ...(on.has('repeatEvents') && { copies: 2 + choose(3), doublesOneIn: 2 + choose(4) }),
    ...(on.has('delayEvents') && { lateMs: choose(120_000) }),
    ...(on.has('skipTicks') && { skipsOneIn: 2 + choose(3) }),
    ...(on.has('skewClocks') && { skewMs: 2_000 }),
    ...(on.has('staleReads') && { staleMs: choose(5_000), isIndexStale: true }),
  };
}

function drawFault(kind: 'kill' | 'freeze' | 'fail', choose: Chooser): OperationFault {
  const when = choose(2) === 0 ? 'before' : 'after';
  if (kind === 'freeze') return { kind, when, forMs: choose(100_000) };
  return kind === 'fail' && choose(4) === 0 ? { kind: 'doubt' } : { kind, when };
}

function drawThrottle(choose: Chooser): Faults {
  if (choose(2) === 0) return { startsPerSecond: 1 + choose(5) };
  const fromMs = choose(30_000);
  return { outage: { fromMs, toMs: fromMs + choose(120_000) } };
}
