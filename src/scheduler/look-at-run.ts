import type { RunRecord } from '#domain/run.ts';
import { DamagedRunError, NewerRunError } from '#domain/run-codec.ts';
import type { PassDeps } from './deps.ts';

/**
 * Reads a run; gives nothing where there is none, and the error of one that cannot be read: that is its own trouble, and
 * never that of whoever has to do with it.
 * @throws whatever else the store throws
 */
export async function lookAtRun(
  { runs }: Pick<PassDeps, 'runs'>,
  id: string,
): Promise<RunRecord | DamagedRunError | NewerRunError | undefined> {
  try {
    return await runs.readRun(id);
  } catch (error) {
    if (error instanceof DamagedRunError || error instanceof NewerRunError) return error;
    throw error;
  }
}
