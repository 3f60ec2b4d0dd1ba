import type { AttemptResult } from '#domain/facts.ts';
import { parseJsonStrict } from '#domain/json-text.ts';
import type { ErrorInfo } from '#domain/run.ts';

const SHOWN_PATH = 300;

/**
 * Judges the JSON text of an output before anything is decided from it: an integer beyond 2^53, a key that is there twice,
 * half of a surrogate pair, more than 100 levels. Whoever reads it later could only lose that in silence.
 */
export function checkOutput(text: string): ErrorInfo | undefined {
  const parsed = parseJsonStrict(text);
  if (parsed.ok) return undefined;
  const [first, ...others] = parsed.errors;
  if (first === undefined) return undefined;
  const { path, code, message } = first;
  const where = path === '' ? 'the output' : `${path.slice(0, SHOWN_PATH).toWellFormed()} in the output`;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return { name: 'Millrace.InvalidOutput', message: `${code}: ${where}: ${message}${more}` };
}

/** A result as it is stored: a success whose output is no good is a failure that says so. */
export function checkResult(result: AttemptResult): AttemptResult {
  const error = result.output === undefined ? undefined : checkOutput(result.output);
  if (!error) return result;
  const { output: _refused, ...rest } = result;
  return { ...rest, status: 'FAILED', error };
}
