/**
 * Checks a run's input against the schema of its pipeline, before anything of the run is stored. The schema was
 * checked when the pipeline was put; what it costs for an input can only be seen with that input, so a check that
 * takes too long (a regular expression, a schema that branches at each level) is ended and refuses the input.
 */
import { runInNewContext } from 'node:vm';
import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import type { DefinitionError } from '#domain/definition.ts';
import { shownValue } from '#domain/definition-errors.ts';
import { readReference } from '#domain/input-schema.ts';
import { isJsonObject, type Json, type JsonObject } from '#domain/json.ts';
import { KEYWORDS } from '#domain/schema-keywords.ts';

/** Longest time of one check (ms). */
const TIME_LIMIT_MS = 1000;
const TIME_IS_OVER = 'ERR_SCRIPT_EXECUTION_TIMEOUT';
/** Errors that are listed. */
const MAX_ERRORS = 100;
const LONGEST_MESSAGE = 300;

/** Keywords that only say that something in them is wrong, which is told by itself. */
const OUTER: ReadonlySet<string> = new Set([
  '$ref',
  'allOf',
  'if',
  'dependentSchemas',
  'properties',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'prefixItems',
  'items',
  'unevaluatedItems',
]);

const validators = new WeakMap<JsonObject, Validator>();

/**
 * What is wrong with an input; nothing where it fits.
 * @param schema as `checkInputSchema` accepted it
 * @param what how a message names the value
 * @returns errors with the places in the input as JSON pointers; the empty text is the input itself
 */
export function checkInput(schema: JsonObject, input: Json, what = 'the input'): readonly DefinitionError[] {
  try {
    return withinTime(() => {
      const { valid, errors } = validatorOf(schema).validate(input);
      return valid ? [] : toErrors(errors, input);
    });
  } catch (error) {
    // Nothing here may throw: a child's input comes from a pass, which would throw at each try.
    const why = isExhausted(error) ? 'it is too large, or too deep, for it' : String(error);
    const message = `${what} cannot be checked against its schema: ${why}`;
    return [{ path: '', code: 'TOO_LARGE', message }];
  }
}

function validatorOf(schema: JsonObject): Validator {
  let validator = validators.get(schema);
  if (!validator) {
    // A copy, since the validator notes in a schema what its references lead to.
    validator = new Validator(withPlainReferences(schema) as Schema, '2020-12', false);
    validators.set(schema, validator);
  }
  return validator;
}

/** A copy in which each place that is referred to has one name, whatever the schema calls itself. */
function withPlainReferences(schema: JsonObject): Json {
  const { $id: _own, ...rest } = schema;
  return copied(rest);
}

function copied(schema: Json): Json {
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, copiedKeyword(keyword, value)]));
}

function copiedKeyword(keyword: string, value: Json): Json {
  if (keyword === '$ref') return plainReference(value as string);
  const kind = KEYWORDS.get(keyword);
  if (kind?.schemas === 'one') return copied(value);
  if (kind?.schemas === 'list') return (value as readonly Json[]).map(copied);
  if (kind?.schemas === 'map') {
    return Object.fromEntries(Object.entries(value as JsonObject).map(([name, schema]) => [name, copied(schema)]));
  }
  return value;
}

function plainReference(ref: string): string {
  return `#${encodeURI(readReference(ref).slice(1)).replaceAll('#', '%23')}`;
}

/** Runs something and ends it when its time is over, even inside a regular expression. */
function withinTime<Result>(work: () => Result): Result {
  return runInNewContext('work()', { work }, { timeout: TIME_LIMIT_MS }) as Result;
}

/** Its time is over, or the stack: both by what the input makes of the schema. The first comes from another realm. */
function isExhausted(error: unknown): boolean {
  if (error instanceof RangeError) return true;
  return typeof error === 'object' && error !== null && 'code' in error && error.code === TIME_IS_OVER;
}

function toErrors(units: readonly OutputUnit[], input: Json): DefinitionError[] {
  const told = leaves(units);
  const errors = told.slice(0, MAX_ERRORS).map((unit) => toError(unit, input));
  const left = told.length - errors.length;
  if (left === 0) return errors;
  return [...errors, { path: '', code: 'MORE_ERRORS', message: `${left} more errors are not listed` }];
}

/** Leaves out what only repeats that something inside is wrong, and what is wrong with alternatives not taken. */
function leaves(units: readonly OutputUnit[]): OutputUnit[] {
  const closed = units.filter(isClosed).map(({ keywordLocation }) => `${keywordLocation}/`);
  return units.filter(
    ({ keyword, keywordLocation }) =>
      !OUTER.has(keyword) && !closed.some((location) => keywordLocation.startsWith(location)),
  );
}

/** Whether an error tells all that helps: what is in it is about other items, the name, or a form that fits. */
function isClosed({ keyword, error }: OutputUnit): boolean {
  if (keyword === 'contains' || keyword === 'propertyNames') return true;
  return keyword === 'oneOf' && !error.includes('(0 matches)');
}

function toError({ keyword, instanceLocation, error }: OutputUnit, input: Json): DefinitionError {
  const path = decodeURIComponent(instanceLocation.slice(1));
  const value = valueAt(input, path);
  return {
    path,
    code: keyword === 'type' ? 'INVALID_TYPE' : 'INVALID_FIELD',
    message: keyword === 'false' ? 'is not allowed here' : sentence(error),
    ...(value !== undefined && { value: shownValue(value) }),
  };
}

function sentence(error: string): string {
  const text = error
    .replace(/\.$/, '')
    .replace(/^Instance type/, 'type')
    .replace(/^Instance /, 'the value ');
  return text.length <= LONGEST_MESSAGE ? text : `${text.slice(0, LONGEST_MESSAGE - 1).toWellFormed()}…`;
}

function valueAt(input: Json, pointer: string): Json | undefined {
  let found: Json | undefined = input;
  for (const segment of pointer.split('/').slice(1)) {
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as { readonly [key: string]: Json })[key];
  }
  return found;
}
