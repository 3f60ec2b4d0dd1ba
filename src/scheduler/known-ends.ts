/**
 * A pass that loses the race reads its run again, and would look at the same executions again. An end never changes, so
 * what has ended is not asked for twice; whatever else an answer was, it may be another one by now.
 */
import type { ExecutionSeen, Executions } from '#ports/index.ts';

/** Remembers the ends that one pass sees. */
export function rememberEnds(executions: Executions): Executions {
  const ends = new Map<string, ExecutionSeen>();
  return {
    ...executions,
    async describe(stateMachineArn, name, urgency) {
      const key = `${stateMachineArn}/${name}`;
      const known = ends.get(key);
      if (known) return known;
      const seen = await executions.describe(stateMachineArn, name, urgency);
      if (seen.kind === 'ended') ends.set(key, seen);
      return seen;
    },
  };
}
