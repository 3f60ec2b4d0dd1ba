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
  readonly awsRequestId?: string;
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
  token: z.optional(z.string()),
});

/** Which attempt a function runs for, and what proves that. */
export type AttemptFacts = z.output<typeof attemptSchema>;

const LOCAL: AttemptFacts = {
  run: 'local',
  node: 'local',
  attempt: 1,
  timeoutSeconds: LONGEST_SECONDS,
};

/** Reads the context of an attempt, which begins now, from that of Lambda. */
export function toRunContext(context: LambdaContext = {}): RunContext {
  const facts = attemptSchema.safeParse(context.clientContext).data ?? LOCAL;
  const { item, token: _secret, ...attempt } = facts;
  const end = performance.now() + attempt.timeoutSeconds * 1000;
  const remainingMs = () => {
    const own = context.getRemainingTimeInMillis?.() ?? LONGEST_SECONDS * 1000;
    return Math.max(0, Math.min(own, Math.round(end - performance.now())));
  };
  const runContext: RunContext = {
    ...attempt,
    ...(item !== undefined && { item }),
    remainingMs,
    signal: AbortSignal.timeout(Math.max(0, remainingMs() - ABORT_BEFORE_MS)),
  };
  factsOf.set(runContext, facts);
  return runContext;
}

/** What a context stands for: the token is in none of its fields, so that nobody logs it by chance. */
const factsOf = new WeakMap<object, AttemptFacts>();

const holderSchema = z.union([
  z.pipe(
    z.object({ clientContext: attemptSchema }),
    z.transform(({ clientContext }) => clientContext),
  ),
  z.pipe(
    z.object({ millrace: attemptSchema }),
    z.transform(({ millrace }) => millrace),
  ),
]);

/**
 * The attempt that something is about: a context of ours, one of Lambda, or an event with the `millrace` part of the input of an
 * attempt's execution.
 */
export function attemptOf(of: unknown): AttemptFacts | undefined {
  const known = typeof of === 'object' && of !== null ? factsOf.get(of) : undefined;
  return known ?? holderSchema.safeParse(of).data;
}
