/**
 * Why something waits, runs, or ended as it did: the closed list of API.md, with the two that decision 0002 adds.
 * A reason is for programs; the sentence beside it is for people.
 */
export const REASONS = [
  'UpstreamPending',
  'NoEngine',
  'EngineDraining',
  'EngineFull',
  'PoolFull',
  'MapLimit',
  'ActiveRunsLimit',
  'Overlap',
  'PipelinePaused',
  'RunPaused',
  'Throttled',
  'Starting',
  'Executing',
  'Overdue',
  'RetryScheduled',
  'AwaitingCallback',
  'Stopping',
  'Completed',
  'NodeFailed',
  'UpstreamFailed',
  'TimedOut',
  'Stopped',
  'AbortedOutside',
  'ConditionFalse',
  'TriggerNotMet',
  'BranchNotChosen',
  'ExecutionLost',
  'ExpressionError',
  'PayloadTooLarge',
  'MarkedByUser',
  'Cached',
  'NotSelected',
  'RunLimit',
  'SelfDeadlock',
  'QueueTimeout',
  'HeartbeatTimeout',
  'FailFast',
  'EngineError',
  'InternalError',
] as const;

/** One of {@link REASONS}. */
export type Reason = (typeof REASONS)[number];

/** A reason for programs and the sentence for people. */
export interface Explanation {
  readonly reason: Reason;
  readonly message: string;
}
