/**
 * Keeps problems short. A megabyte of wrong fields gives a hundred thousand things to say, each with texts of the
 * caller's own; an answer that is too large for an invocation would be no answer at all.
 */
import { DEFINITION_LIMITS } from '#domain/definition.ts';
import type { Json } from '#domain/json.ts';
import type { FieldProblem } from './problem.ts';

/** Longest text that an answer repeats (characters). */
export const MAX_REPEATED_TEXT = 1000;
/** Longest list of errors (bytes of its JSON text). */
export const MAX_ERRORS_BYTES = 1024 * 1024;
/** Most entries of an offending value that is a list. */
const MAX_REPEATED_ENTRIES = 1000;

const MORE_ERRORS = {
  path: '',
  code: 'MORE_ERRORS',
  message: 'there are more errors than are listed; correct those above first',
};

/** A text, cut where it is too long to be repeated. */
export function cutText(text: string): string {
  return text.length <= MAX_REPEATED_TEXT ? text : `${text.slice(0, MAX_REPEATED_TEXT).toWellFormed()}…`;
}

/** The first of the errors, as many as an answer may hold, and a last one that says so where there are more. */
export function boundErrors(errors: readonly FieldProblem[]): readonly FieldProblem[] {
  const bounded: FieldProblem[] = [];
  let bytes = 0;
  for (const error of errors) {
    const entry = cutError(error);
    // A list that was cut before ends with an error that says so: it may stand beyond the limit.
    if (entry.code === 'MORE_ERRORS') return [...bounded, entry];
    bytes += Buffer.byteLength(JSON.stringify(entry));
    if (bounded.length >= DEFINITION_LIMITS.errors || bytes > MAX_ERRORS_BYTES) return [...bounded, MORE_ERRORS];
    bounded.push(entry);
  }
  return bounded;
}

function cutError({ path, message, value, allowed, suggestion, ...rest }: FieldProblem): FieldProblem {
  return {
    path: cutText(path),
    ...rest,
    message: cutText(message),
    ...(value !== undefined && { value: cutValue(value) }),
    ...(allowed !== undefined && { allowed: cutText(allowed) }),
    ...(suggestion !== undefined && { suggestion: cutText(suggestion) }),
  };
}

function cutValue(value: Json): Json {
  if (typeof value === 'string') return cutText(value);
  return Array.isArray(value) ? value.slice(0, MAX_REPEATED_ENTRIES) : value;
}
