/**
 * One list for all passes of an instance: a tick brings many runs at once, and the list that one of them asked for says as
 * much to the others. It lags by design (`RunningListed`), so a moment more does no harm.
 */
import type { Executions, RunningListed } from '#ports/index.ts';

/** How long a list is good for others (ms). */
const SHARED_MS = 1_000;

interface SharedList {
  readonly askedAt: number;
  readonly pages: number;
  readonly answer: Promise<RunningListed>;
}

/** Gives passes that ask at about the same time the same list. */
export function shareLists(executions: Executions): Executions {
  const lists = new Map<string, SharedList>();
  const ask = async (stateMachineArn: string, pages: number): Promise<RunningListed> => {
    const answer = await executions.listRunning(stateMachineArn, pages);
    if (answer.kind === 'unanswered') lists.delete(stateMachineArn);
    return answer;
  };
  return {
    ...executions,
    listRunning(stateMachineArn, pages = 1) {
      const now = performance.now();
      const known = lists.get(stateMachineArn);
      if (known && known.pages >= pages && now - known.askedAt < SHARED_MS) return known.answer;
      const answer = ask(stateMachineArn, pages);
      lists.set(stateMachineArn, { askedAt: now, pages, answer });
      return answer;
    },
  };
}
