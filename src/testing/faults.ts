/**
 * What may go wrong in a world, and how far: the powers of the adversary.
 *
 * - An invocation may die or freeze at any port call, before or after the call took effect. Nothing is thrown: a killed
 *   process catches nothing. It may wake long after its time limit.
 * - A port call may fail, whether or not it took effect.
 * - A call under way takes effect within a second, so that a limit checked right before the call holds for it. This is
 *   what the fence relies on (ARCHITECTURE, 4), and where `freezeStarts` goes beyond it.
 * - Messages and events may be lost, late, repeated and in any order, and handed over to two invocations at once. The
 *   tick's own rings are not lost, only late; a tick may not come at all.
 * - Clocks of invocations are off by up to two seconds. Answers of DescribeExecution and of the due index lag.
 */
import type { Chooser } from './chooser.ts';

/** One thing that goes wrong with one operation. */
export type OperationFault =
  /** The invocation dies before or after the operation took effect. */
  | { readonly kind: 'kill'; readonly when: 'before' | 'after' }
  /** The invocation freezes, and wakes when everybody else has waited this long (ms). */
  | { readonly kind: 'freeze'; readonly when: 'before' | 'after'; readonly forMs: number }
  /** The answer is a throttle, a timeout or an exception, whether or not the operation took effect. */
  | { readonly kind: 'fail'; readonly when: 'before' | 'after' }
  /** A commit takes effect and its answer is lost; the client asks again by itself, and is told that it came too late. */
  | { readonly kind: 'doubt' }
  /** StartExecution refuses, once. Of no effect on other operations. */
  | { readonly kind: 'refuse' };

/** Everything that goes wrong in a world. */
export interface Faults {
  /** By the number of an operation, counted from 0 over the whole run. */
  readonly at?: ReadonlyMap<number, OperationFault>;
  /** Whether a call of StartExecution or a commit may freeze before it takes effect, against the rule above. */
  readonly freezeStarts?: boolean;
  /** Time between ticks (ms). @default 60000 */
  readonly tickMs?: number;
  /** Events and rings that are lost; the tick's own rings never are. */
  readonly drop?: boolean;
  /** Each event and ring arrives this many times. */
  readonly copies?: number;
  /** Which of several things that could happen does; absent: one invocation at a time. */
  readonly choose?: Chooser;
  /** One event or ring in so many is lost. Needs `choose`. */
  readonly loseOneIn?: number;
  /** One message in so many that is handed over is handed over to another invocation too, at once. Needs `choose`. */
  readonly doublesOneIn?: number;
  /** One tick in so many does not come, but never many in a row. Needs `choose`. */
  readonly skipsOneIn?: number;
  /** Events and rings are late by up to this long (ms). Needs `choose`. */
  readonly lateMs?: number;
  /** Clocks of invocations are off by up to this much (ms). Needs `choose`. */
  readonly skewMs?: number;
  /** DescribeExecution answers as things stood up to this long ago (ms). Needs `choose`. */
  readonly staleMs?: number;
  /** The due index leaves out what is due, and shows what no longer is. Needs `choose`. */
  readonly isIndexStale?: boolean;
  /** The inbox gets ends of executions that are none of the run's, and messages that nobody understands. */
  readonly strangers?: boolean;
  /** Step Functions answers nothing from and to these times (ms after the world's beginning). */
  readonly outage?: { readonly fromMs: number; readonly toMs: number };
  /** Executions that Step Functions lets start in a second; it throttles the rest. */
  readonly startsPerSecond?: number;
}

/** Thrown by a port call that was made to fail. */
export class InjectedFailure extends Error {
  constructor(label: string) {
    super(`${label} was made to fail`);
    this.name = 'InjectedFailure';
  }
}

/** A fault in words. */
export function toText(fault: OperationFault): string {
  if (fault.kind === 'refuse' || fault.kind === 'doubt') return fault.kind;
  return fault.kind === 'freeze' ? `freeze ${fault.when} ${fault.forMs} ms` : `${fault.kind} ${fault.when}`;
}
