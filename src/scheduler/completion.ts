import { parseExecutionName } from '#domain/execution-name.ts';
import type { ExecutionStatus } from '#domain/facts.ts';

/** The end of an execution as an event tells it. */
export interface Completion {
  readonly nonce: string;
  readonly node: number;
  readonly item?: number | undefined;
  readonly attempt: number;
  readonly status: ExecutionStatus;
  /** JSON text; absent where the event could not carry it. */
  readonly output?: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Reads a completion off an execution's name; nothing where it is not an attempt of this installation. */
export function completionOf(
  installation: string,
  name: string,
  end: Omit<Completion, 'nonce' | 'node' | 'item' | 'attempt'>,
): { readonly run: string; readonly completion: Completion } | undefined {
  const key = parseExecutionName(installation, name);
  if (!key) return undefined;
  const { run, ...attempt } = key;
  return { run, completion: { ...attempt, ...end } };
}
