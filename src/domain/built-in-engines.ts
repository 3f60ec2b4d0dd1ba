/** Engines that the scheduler runs itself, without a state machine. */

/** Stands for the engine `pipeline` where others have the ARN of their state machine. */
export const CHILD_RUNS_ARN = 'millrace:pipeline';

/** Runs that may stand above one another (SEMANTICS, "Engines and the Ready condition"). */
export const MAX_RUN_DEPTH = 16;
