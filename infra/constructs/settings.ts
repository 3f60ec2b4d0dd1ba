/**
 * The figures that several constructs must agree on.
 *
 * P, the time limit of a pass, is what everything else follows from: the timeout of each function that runs passes,
 * and six times as long for a queue message before another reader may see it.
 */

/** P: the time limit of a pass, in seconds. */
export const PASS_SECONDS = 30;

/** The time between two ticks, in minutes: EventBridge Scheduler knows whole ones; a delayed ring cannot bridge more than 15. */
export const TICK_MINUTES = { default: 1, min: 1, max: 15 } as const;

/** Runs of one pipeline that events start in a minute. Each costs more to count the more there are. */
export const EVENT_STARTS_PER_MINUTE = { default: 100, min: 1, max: 1000 } as const;

/** The functions of Millrace itself; each has a folder of this name in `functions/`. */
export const OWN_FUNCTIONS = ['api', 'scheduler', 'intake'] as const;

/** One of Millrace's own functions. */
export type OwnFunction = (typeof OWN_FUNCTIONS)[number];
