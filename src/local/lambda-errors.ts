import type { EnvironmentExit } from '#local/lambda-environment.ts';
import type { FunctionError } from '#local/lambda-runtime.ts';

/** What Lambda says of an invocation that took longer than its function may. */
export function timeoutError(requestId: string, timeoutMs: number): FunctionError {
  const errorMessage = `RequestId: ${requestId} Error: Task timed out after ${(timeoutMs / 1000).toFixed(2)} seconds`;
  return { errorType: 'Sandbox.Timedout', errorMessage };
}

const signalNames: ReadonlyMap<string, string> = new Map([
  ['SIGKILL', 'killed'],
  ['SIGSEGV', 'segmentation fault'],
  ['SIGABRT', 'aborted'],
  ['SIGTERM', 'terminated'],
]);

/** What Lambda says of an invocation whose environment ended under it. */
export function exitError(requestId: string, { code, signal, memory }: EnvironmentExit): FunctionError {
  const said = (what: string) => ({
    errorType: 'Runtime.ExitError',
    errorMessage: `RequestId: ${requestId} Error: ${what}`,
  });
  if (memory !== undefined) {
    const { errorMessage } = said('Runtime exited with error: signal: killed');
    const why = `it took ${memory.usedMb} MB of memory, and the function has ${memory.limitMb} MB`;
    return { errorType: 'Runtime.OutOfMemory', errorMessage: `${errorMessage} (${why})` };
  }
  if (signal !== undefined) return said(`Runtime exited with error: signal: ${signalNames.get(signal) ?? signal}`);
  if (code === 0) return said('Runtime exited without providing a reason');
  return said(`Runtime exited with error: exit status ${code}`);
}

/** How an environment ends that the host kills. */
export const killed: EnvironmentExit = { code: null, signal: 'SIGKILL' };
