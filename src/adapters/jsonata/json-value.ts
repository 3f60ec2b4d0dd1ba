import type { Json } from '#domain/json.ts';
import { ExpressionFailure, expressionError, sizeError } from './expression-failure.ts';
import type { ExpressionLimits } from './expression-limits.ts';

/** How far beyond the limit a value is still measured, so that its exact size can be told. */
const MEASURED_TIMES = 4;

/** Copies what JSONata gave into plain JSON: no marks of its own on lists, no functions, no numbers that JSON has not. */
export interface JsonCopier {
  /**
   * @param text - the expression, for messages
   * @param depth - the level at which the value stands in its template
   * @throws ExpressionFailure
   */
  copy(text: string, value: unknown, depth: number): Json;
}

/**
 * A copier for the expressions of one template. It stops early at values that no limit would let through, since a few
 * shared objects can stand for more JSON than memory holds.
 */
export function createJsonCopier(limits: ExpressionLimits): JsonCopier {
  let bytesLeft = limits.valueBytes * MEASURED_TIMES;

  const spend = (bytes: number) => {
    bytesLeft -= bytes;
    if (bytesLeft >= 0) return;
    throw new ExpressionFailure(sizeError(limits.valueBytes, `more than ${limits.valueBytes * MEASURED_TIMES}`));
  };

  const copy = (text: string, value: unknown, depth: number): Json => {
    if (typeof value === 'string') spend(value.length + 2);
    else spend(2);
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number') return finite(text, value);
    if (typeof value !== 'object' || isFunctionRecord(value)) throw unusable(text, value);
    if (depth >= limits.valueDepth) {
      throw new ExpressionFailure(
        expressionError(text, `gives a value nested more than ${limits.valueDepth} levels deep`),
      );
    }
    if (Array.isArray(value)) return Array.from(value, (item) => copy(text, item, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        spend(key.length + 2);
        return [key, copy(text, member, depth + 1)];
      }),
    );
  };
  return { copy };
}

function finite(text: string, value: number): number {
  if (Number.isFinite(value)) return value;
  throw new ExpressionFailure(expressionError(text, `gives the number ${value}, which JSON has not`));
}

/** JSONata's functions are objects with a mark; data with that mark is refused before an expression sees it. */
function isFunctionRecord(value: object): boolean {
  const { _jsonata_lambda: lambda, _jsonata_function: builtIn } = value as Record<string, unknown>;
  return lambda === true || builtIn === true;
}

function unusable(text: string, value: unknown): ExpressionFailure {
  const what = value === undefined ? 'a list or an object with a member that has no value' : 'a function';
  return new ExpressionFailure(expressionError(text, `gives ${what}, which is no JSON`));
}
