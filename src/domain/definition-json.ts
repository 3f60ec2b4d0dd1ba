import { DEFINITION_LIMITS } from './definition.ts';
import type { ErrorList } from './definition-errors.ts';
import type { PathSegment } from './definition-path.ts';
import { isJsonObject, type Json } from './json.ts';

/** A value has at least one character and a separator, so more values than this cannot fit into a definition. */
const MOST_VALUES = DEFINITION_LIMITS.definitionBytes / 2;

/** The member of a JSON object by its key; `undefined` where there is none or the value is no object. */
export function memberOf(json: Json | undefined, key: string): Json | undefined {
  return isJsonObject(json) && Object.hasOwn(json, key) ? json[key] : undefined;
}

interface Reading {
  readonly errors: ErrorList;
  /** The way to the value being read; one array for the whole reading. */
  readonly at: PathSegment[];
  values: number;
  usable: boolean;
}

/**
 * Copies a value that may be anything into plain JSON. Keys keep their order and their own names (`__proto__` is a
 * key like any other); a member that is `undefined` is left out, as `JSON.stringify` does.
 *
 * @returns the copy, or `undefined` where the value is no JSON at all. Numbers and texts that JSON cannot carry
 * exactly are reported and copied all the same, so that later checks still see the rest.
 */
export function readJson(value: unknown, errors: ErrorList): Json | undefined {
  const reading: Reading = { errors, at: [], values: 0, usable: true };
  const json = copied(value, reading);
  return reading.usable ? json : undefined;
}

function copied(value: unknown, reading: Reading): Json {
  reading.values += 1;
  if (reading.values > MOST_VALUES) return refuseSize(reading);
  switch (typeof value) {
    case 'string':
      return checkedText(value, reading);
    case 'number':
      return checkedNumber(value, reading);
    case 'boolean':
      return value;
    case 'object':
      return value === null ? null : container(value, reading);
    default:
      return refuseKind(value, typeof value, reading);
  }
}

function container(value: object, reading: Reading): Json {
  if (reading.at.length >= DEFINITION_LIMITS.nestingDepth) return refuseDepth(reading);
  if (Array.isArray(value)) return copiedList(value, reading);
  if (isPlainObject(value)) return copiedObject(value, reading);
  return refuseKind(value, `an instance of ${value.constructor?.name ?? 'a class'}`, reading);
}

function copiedList(list: readonly unknown[], reading: Reading): Json {
  const copy: Json[] = [];
  for (let position = 0; position < list.length && reading.values <= MOST_VALUES; position += 1) {
    reading.at.push(position);
    copy.push(copied(list[position], reading));
    reading.at.pop();
  }
  return copy;
}

function copiedObject(object: object, reading: Reading): Json {
  const copy: [string, Json][] = [];
  for (const [key, member] of Object.entries(object)) {
    if (member === undefined) continue;
    if (reading.values > MOST_VALUES) break;
    reading.at.push(key);
    if (!key.isWellFormed()) refuseText(key, 'the key', reading);
    copy.push([key, copied(member, reading)]);
    reading.at.pop();
  }
  return Object.fromEntries(copy);
}

function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function checkedText(text: string, reading: Reading): string {
  if (!text.isWellFormed()) refuseText(text, 'the text', reading);
  return text;
}

function refuseText(text: string, what: string, { errors, at }: Reading): void {
  const message = `${what} holds half of a surrogate pair, which is no Unicode character`;
  errors.add({ at: [...at], code: 'INVALID_UNICODE', message, value: text.toWellFormed() });
}

function checkedNumber(value: number, { errors, at }: Reading): number {
  const isExact =
    Number.isFinite(value) && (Math.abs(value) <= 2 ** 53 || !Number.isInteger(value) || !isWritten(value));
  // Stored text has no -0, so a definition has none either.
  if (isExact) return value === 0 ? 0 : value;
  const message = Number.isFinite(value)
    ? `${value} is an integer beyond 2^53, which loses digits on its way; write it as text`
    : `${value} is no JSON number`;
  errors.addIfFirst({ at: [...at], code: 'NUMBER_OUT_OF_RANGE', message, value, allowed: INTEGER_RANGE });
  return value;
}

/** True where JSON text shows all digits of the integer, as if all of them were known. */
function isWritten(value: number): boolean {
  return Math.abs(value) < 1e21;
}

/** The range of integers, for `allowed`. */
export const INTEGER_RANGE = `integers from -${2 ** 53} to ${2 ** 53}`;

function refuseKind(value: unknown, kind: string, reading: Reading): Json {
  reading.usable = false;
  const message = `${kind} is no JSON value`;
  reading.errors.add({ at: [...reading.at], code: 'INVALID_TYPE', message, value, allowed: 'JSON values' });
  return null;
}

function refuseDepth(reading: Reading): Json {
  reading.usable = false;
  const limit = DEFINITION_LIMITS.nestingDepth;
  const message = `nested more than ${limit} levels deep`;
  reading.errors.add({ at: [...reading.at], code: 'TOO_DEEP', message, allowed: `at most ${limit} levels` });
  return null;
}

function refuseSize(reading: Reading): Json {
  reading.usable = false;
  const limit = DEFINITION_LIMITS.definitionBytes;
  const message = `the definition has more values than fit into ${limit} bytes of JSON`;
  reading.errors.add({ at: [], code: 'TOO_LARGE', message, allowed: `at most ${limit} bytes` });
  return null;
}
