/** What stands for functions and engines in a test. */
import type { Json } from '#domain/json.ts';

/** What an attempt is told beside its payload: what is virtual, and what Lambda would have told it. */
export interface StubContext {
  /** Id of the run, and its pipeline. */
  readonly run: string;
  readonly pipeline: string;
  readonly node: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Index of the item, for a node with a map. */
  readonly item?: number;
  readonly engine: string;
  /** Virtual time at which the attempt starts (ms since the epoch). */
  readonly now: number;
  /** Name of the function; only for the engine `lambda`. */
  readonly functionName?: string;
  /** As Lambda has it: the `millrace` part of the input of the attempt's execution. */
  readonly clientContext: {
    readonly run: string;
    readonly node: string;
    readonly attempt: number;
    readonly item?: number;
    readonly timeoutSeconds: number;
    readonly token: string;
  };
  /** What is left of the attempt's time, or of Lambda's 15 minutes where that is less (ms). Stands still, like the clock. */
  getRemainingTimeInMillis(): number;
}

/** A method, and no function, so that code that says what payload it takes fits. */
interface Callable {
  call(payload: unknown, context: StubContext): unknown;
}

/** Called once for each attempt; its value, or the promise's, is the output, and what it throws fails the attempt. */
export type StubFunction = Callable['call'];

/** An answer that comes later, in virtual time. Made by {@link later} and {@link hang}. */
export class LaterAnswer {
  /** Virtual; infinite where none comes. */
  readonly afterMs: number;
  readonly value: unknown;

  constructor(afterMs: number, value: unknown) {
    this.afterMs = afterMs;
    this.value = value;
  }
}

/** What stands for a function or an engine: code, or the one answer that it always gives. */
export type Stub = StubFunction | Json | LaterAnswer | typeof UNREGISTERED;

/** Given as the stub of an engine: no such engine is registered. */
export const UNREGISTERED: unique symbol = Symbol('unregistered');

/**
 * An answer that takes its time, as a stub or as what a stub returns.
 * @param ms virtual time
 * @param value the output; a function is called, and may throw
 * @example
 * functions: { slow: () => later(90_000, { rows: 3 }), broken: later(5_000, () => { throw new Error('gone'); }) }
 */
export function later(ms: number, value: unknown = null): LaterAnswer {
  if (!(ms >= 0)) throw new RangeError(`an answer cannot come after ${ms} ms`);
  return new LaterAnswer(ms, value);
}

/** No answer at all: the attempt runs into its time limit, or is stopped. */
export function hang(): LaterAnswer {
  return new LaterAnswer(Number.POSITIVE_INFINITY, undefined);
}

/**
 * A stub that fails each attempt.
 * @param name of the error, as `retry.on` has it
 */
export function fails(name: string, message = `${name} of a stub`): StubFunction {
  return () => {
    throw Object.assign(new Error(message), { name });
  };
}
