/**
 * Names of executions: installation, run, nonce, node index (with the item's, in a map) and attempt, so that an attempt has one name for ever
 * and a name has one attempt (DESIGN, "Start at most once per attempt"). At most 80 characters of `A-Z a-z 0-9 - _`.
 * https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html
 */

/** Which attempt an execution is. */
export interface AttemptKey {
  readonly run: string;
  readonly nonce: string;
  readonly node: number;
  /** Index of the item, for an item of a map. */
  readonly item?: number | undefined;
  readonly attempt: number;
}

const PATTERN = /^([A-Za-z0-9_-]+)-([a-z2-7]{26})-([a-z2-7]{8})-(\d{1,5})(?:_(\d{1,5}))?-(\d{1,5})$/;

/** The name of an attempt's execution. */
export function toExecutionName(installation: string, key: AttemptKey): string {
  const item = key.item === undefined ? '' : `_${key.item}`;
  return `${installation}-${key.run}-${key.nonce}-${key.node}${item}-${key.attempt}`;
}

/** Reads a name back; nothing where it is not one of this installation's. */
export function parseExecutionName(installation: string, name: string): AttemptKey | undefined {
  const match = PATTERN.exec(name);
  if (match?.[1] !== installation) return undefined;
  const [, , run, nonce, node, item, attempt] = match;
  return {
    run: run as string,
    nonce: nonce as string,
    node: Number(node),
    ...(item !== undefined && { item: Number(item) }),
    attempt: Number(attempt),
  };
}

const RUN_ID = /^[a-z2-7]{26}$/;

/** Whether a text has the form of a run's id. One that has not is unknown, without a look into the store. */
export function isRunId(text: string): boolean {
  return RUN_ID.test(text);
}
