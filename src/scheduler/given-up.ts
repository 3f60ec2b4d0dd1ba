import type { RunRecord } from '#domain/run.ts';
import type { PassDeps } from './deps.ts';

/** How long a run that no pass can carry on stays due before it is ended (ms). */
const GIVEN_UP_AFTER_MS = 10 * 60_000;

/** Whether a run has been due for so long that what keeps passes from carrying it on will not go away by itself. */
export function isGivenUp({ clock }: Pick<PassDeps, 'clock'>, { dueAt }: RunRecord): boolean {
  return dueAt !== undefined && clock.now() - dueAt >= GIVEN_UP_AFTER_MS;
}
