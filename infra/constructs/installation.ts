import { SynthesisError } from './synthesis-error.ts';

/**
 * A hyphen is not allowed: execution names begin with `<installation>-`, and the rule for their status changes filters
 * by that prefix, so `millrace` would also hear everything of an installation called `millrace-test`.
 * Twenty characters leave room for the rest of an execution name (80 in all).
 */
const INSTALLATION_NAME = /^[a-z][a-z0-9]{0,19}$/;

/** The name of an installation where the context gives none. */
export const DEFAULT_INSTALLATION = 'millrace';

/**
 * Checks the name of an installation: the prefix of all its physical names and of its executions' names.
 *
 * @throws SynthesisError `INVALID_INSTALLATION` for anything but 1 to 20 lower-case letters and digits.
 */
export function parseInstallation(value: unknown): string {
  if (typeof value === 'string' && INSTALLATION_NAME.test(value)) return value;
  throw new SynthesisError(
    'INVALID_INSTALLATION',
    `The installation is ${JSON.stringify(value)}; it must be 1 to 20 lower-case letters and digits, beginning with a letter.`,
  );
}
