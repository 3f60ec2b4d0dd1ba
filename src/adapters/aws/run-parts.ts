import * as z from 'zod';
import { DamagedRunError } from '#domain/run-codec.ts';
import { DamagedTextError } from './stored-text.ts';

/**
 * Reads a part of a run: what is wrong with the part is then told as the run's own trouble, while a call that failed
 * stays what it is.
 * @throws DamagedRunError
 */
export async function readRunPart<T>(runId: string, part: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    const isDamage = cause instanceof DamagedTextError || cause instanceof z.ZodError || cause instanceof SyntaxError;
    throw isDamage ? new DamagedRunError(runId, `${part} cannot be read`, cause) : cause;
  }
}
