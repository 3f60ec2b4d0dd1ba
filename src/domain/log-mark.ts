/**
 * The line by which the log of an attempt is found: the library for functions writes it when an attempt begins. What the
 * environment writes until the invocation ends is the attempt's.
 */

/** Which attempt, by what a function is told. */
export interface LoggedAttempt {
  readonly run: string;
  /** Id of the node. */
  readonly node: string;
  readonly item?: number | undefined;
  readonly attempt: number;
}

/** A text that no line of another attempt has, without characters that any format of logs would change. */
export function logKey({ run, node, item, attempt }: LoggedAttempt): string {
  return `${run}/${Buffer.from(node).toString('base64url')}/${item ?? '-'}/${attempt}`;
}

/** The line of an attempt. `requestId`: of the invocation. */
export function logMark(of: LoggedAttempt, requestId: string): string {
  const { run, node, item, attempt } = of;
  return JSON.stringify({
    millrace: { attemptOf: logKey(of), run, node, attempt, ...(item !== undefined && { item }) },
    requestId,
  });
}

/** The invocation that the mark of an attempt names, whatever a log has put around it or escaped in it. */
export function requestIdIn(line: string): string | undefined {
  return /requestId\W+([\w-]+)/.exec(line.slice(line.indexOf('attemptOf')))?.[1];
}

/** Whether a line is the mark of an invocation. */
export function isLogMark(line: string, requestId: string): boolean {
  return line.includes('attemptOf') && requestIdIn(line) === requestId;
}

/** Whether a line says that another invocation begins, or this one is over. */
export function endsLog(line: string, requestId: string): boolean {
  if (line.startsWith(`END RequestId: ${requestId}`) || line.startsWith(`REPORT RequestId: ${requestId}`)) return true;
  return line.startsWith('START RequestId: ') && !line.includes(requestId);
}
