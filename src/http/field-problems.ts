/** What a schema finds wrong with a request, field by field, in the words of the API. */
import type * as z from 'zod';
import { DEFINITION_LIMITS } from '#domain/definition.ts';
import { nearMiss, shownValue } from '#domain/definition-errors.ts';
import { formatPath, type PathSegment } from '#domain/definition-path.ts';
import type { FieldProblem } from './problem.ts';

/** One more than an answer lists, so that it says that there are more. */
const MOST_TOLD = DEFINITION_LIMITS.errors + 1;

/**
 * Turns a schema's issues into field problems.
 * @param value what was checked, to show the offending values
 * @param known names of the fields that are allowed at the top, for suggestions
 */
export function toFieldProblems(error: z.ZodError, value: unknown, known: readonly string[]): FieldProblem[] {
  return error.issues.slice(0, MOST_TOLD).flatMap((issue) => {
    const path = issue.path as PathSegment[];
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.slice(0, MOST_TOLD).map((key) => unknownField(path, key, path.length === 0 ? known : []));
    }
    const found = valueAt(value, path);
    const code = issue.code === 'invalid_type' ? 'INVALID_TYPE' : 'INVALID_FIELD';
    return [
      {
        path: formatPath(path),
        code,
        message: messageOf(issue),
        ...(found !== undefined && { value: shownValue(found) }),
      },
    ];
  });
}

/** Of a key that is wrong, what is wrong with it. */
function messageOf(issue: z.core.$ZodIssue): string {
  const [first] = issue.code === 'invalid_key' ? issue.issues : [];
  return first ? `the key ${first.message}` : issue.message;
}

function unknownField(path: readonly PathSegment[], key: string, known: readonly string[]): FieldProblem {
  const suggestion = nearMiss(key, known);
  return {
    path: formatPath([...path, key]),
    code: 'UNKNOWN_FIELD',
    message: `there is no field ${JSON.stringify(key)}${suggestion ? `; was ${JSON.stringify(suggestion)} meant?` : ''}`,
    ...(known.length > 0 && { allowed: known.join(' | ') }),
    ...(suggestion && { suggestion }),
  };
}

function valueAt(value: unknown, path: readonly PathSegment[]): unknown {
  let found = value;
  for (const segment of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, segment)) return undefined;
    found = (found as Record<PathSegment, unknown>)[segment];
  }
  return found;
}
