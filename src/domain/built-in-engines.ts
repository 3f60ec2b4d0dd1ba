/** Engines that the scheduler runs itself, without a state machine. */

/** Stands for the engine `pipeline` where others have the ARN of their state machine. */
export const CHILD_RUNS_ARN = 'millrace:pipeline';

/** The same for the engine `approval`: its attempts wait for an answer, and have no execution. */
export const APPROVALS_ARN = 'millrace:approval';

/** The same for the engine `pass`: its attempts are over as soon as their parameters are known. */
export const PASS_ARN = 'millrace:pass';

/** Engines whose attempts run no code of a node, so that nothing of them could report. */
export const ENGINES_WITHOUT_CODE: ReadonlySet<string> = new Set(['pipeline', 'approval', 'pass']);

/** Longest prompt of an approval, in characters: it is kept in the run while that waits. */
export const MAX_PROMPT_LENGTH = 1000;

/** Runs that may stand above one another (SEMANTICS, "Engines and the Ready condition"). */
export const MAX_RUN_DEPTH = 16;
