/** Where the lane keeps what it must know of an attempt: beside the results of its run, so that both go together. */
import { type ItemKey, resultSortKey, runPartition } from '#adapters/aws/table-keys.ts';
import { parseExecutionName } from '#domain/execution-name.ts';

/** The two items of an attempt. */
export interface LaneKeys {
  /** Who has it may run the attempt, or may be sure that it never runs. Written once. */
  readonly claim: ItemKey;
  /** What the attempt came to: the result item that passes read. Written once. */
  readonly result: ItemKey;
  readonly run: string;
}

/** The items of the attempt that an execution is named after; nothing where it is none of this installation. */
export function laneKeys(installation: string, name: string): LaneKeys | undefined {
  const key = parseExecutionName(installation, name);
  if (!key) return undefined;
  const pk = runPartition({ id: key.run, nonce: key.nonce });
  const sk = resultSortKey(key.node, key.attempt, key.item);
  return { run: key.run, claim: { pk, sk: `k${sk.slice(1)}` }, result: { pk, sk } };
}
