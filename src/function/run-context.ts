/** What a function is told about the attempt that it runs for. */
import * as z from 'zod/mini';

/** What a function gets beside its payload. */
export interface RunContext {
  /** Id of the run; `local` where no run invoked the function, as in a test. */
  readonly run: string;
  /** Id of the node. */
  readonly node: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Index of the item, for a node with a map. */
  readonly item?: number;
  /** How long the attempt may take in all. */
  readonly timeoutSeconds: number;
  /** What is left of it (ms), or of the function's own time where that is less. */
  remainingMs(): number;
  /** Aborts half a second before no time is left: give it to `fetch` and the like, to end in time by an error of your own. */
  readonly signal: AbortSignal;
}

/** The part of Lambda's own context that is read. */
export interface LambdaContext {
  readonly clientContext?: unknown;
  getRemainingTimeInMillis?(): number;
}

/** The longest that Lambda runs a function. */
const LONGEST_SECONDS = 900;
const ABORT_BEFORE_MS = 500;

const attemptSchema = z.object({
  run: z.string(),
  node: z.string(),
  attempt: z.int(),
  item: z.optional(z.int()),
  timeoutSeconds: z.number(),
});

const LOCAL: z.output<typeof attemptSchema> = {
  run: 'local',
  node: 'local',
  attempt: 1,
  timeoutSeconds: LONGEST_SECONDS,
};

/** Reads the context of an attempt, which begins now, from that of Lambda. */
export function toRunContext(context: LambdaContext = {}): RunContext {
  const { item, ...attempt } = attemptSchema.safeParse(context.clientContext).data ?? LOCAL;
  const end = performance.now() + attempt.timeoutSeconds * 1000;
  const remainingMs = () => {
    const own = context.getRemainingTimeInMillis?.() ?? LONGEST_SECONDS * 1000;
    return Math.max(0, Math.min(own, Math.round(end - performance.now())));
  };
  return {
    ...attempt,
    ...(item !== undefined && { item }),
    remainingMs,
    signal: AbortSignal.timeout(Math.max(0, remainingMs() - ABORT_BEFORE_MS)),
  };
}
