/** The keywords of JSON Schema (2020-12) that a run's input can be checked by, and what each of them holds. */
import { isJsonObject, type Json } from './json.ts';

/** What a keyword holds. Those that hold schemas say where: at the same place of the input, or below it. */
export type KeywordKind =
  | { readonly schemas: 'one' | 'list' | 'map'; readonly inPlace: boolean }
  | { readonly schemas?: never; readonly allowed: string; readonly isRight: (value: Json) => boolean };

const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'];

/** The formats that are checked; the specification knows more, which would be passed over. */
const FORMATS = [
  'date',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'json-pointer',
  'regex',
  'relative-json-pointer',
  'time',
  'uri',
  'uri-reference',
  'uri-template',
  'uuid',
];

const isText = (value: Json) => typeof value === 'string';
const isCount = (value: Json) => Number.isSafeInteger(value) && (value as number) >= 0;
const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
const isTexts = (value: Json) => isList(value) && value.every(isText);
const isType = (value: Json) => isText(value) && TYPES.includes(value as string);

const inPlace = (schemas: 'one' | 'list' | 'map'): KeywordKind => ({ schemas, inPlace: true });
const below = (schemas: 'one' | 'list' | 'map'): KeywordKind => ({ schemas, inPlace: false });
const value = (allowed: string, isRight: (value: Json) => boolean): KeywordKind => ({ allowed, isRight });

const count = value('a whole number from 0', isCount);
const amount = value('a number', (found) => typeof found === 'number');
const flag = value('true or false', (found) => typeof found === 'boolean');
const text = value('text', isText);
const anything = value('any value', () => true);

/** The keywords, by name. */
export const KEYWORDS: ReadonlyMap<string, KeywordKind> = new Map(
  Object.entries({
    allOf: inPlace('list'),
    anyOf: inPlace('list'),
    oneOf: inPlace('list'),
    not: inPlace('one'),
    if: inPlace('one'),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, never awaited
    then: inPlace('one'),
    else: inPlace('one'),
    dependentSchemas: inPlace('map'),
    properties: below('map'),
    patternProperties: below('map'),
    additionalProperties: below('one'),
    unevaluatedProperties: below('one'),
    propertyNames: below('one'),
    prefixItems: below('list'),
    items: below('one'),
    contains: below('one'),
    unevaluatedItems: below('one'),
    $defs: below('map'),
    definitions: below('map'),
    type: value(`${TYPES.join(' | ')}, or a list of these`, (found) =>
      isList(found) ? found.length > 0 && found.every(isType) : isType(found),
    ),
    enum: value('a list of values', (found) => isList(found) && found.length > 0),
    const: anything,
    required: value('a list of names', isTexts),
    dependentRequired: value(
      'lists of names by name',
      (found) => isJsonObject(found) && Object.values(found).every(isTexts),
    ),
    minProperties: count,
    maxProperties: count,
    minItems: count,
    maxItems: count,
    minContains: count,
    maxContains: count,
    minLength: count,
    maxLength: count,
    uniqueItems: flag,
    minimum: amount,
    maximum: amount,
    exclusiveMinimum: amount,
    exclusiveMaximum: amount,
    multipleOf: value('a number above 0', (found) => typeof found === 'number' && found > 0),
    pattern: value('a regular expression', isPattern),
    format: value(FORMATS.join(' | '), (found) => isText(found) && FORMATS.includes(found as string)),
    $anchor: value(
      'letters, digits, ".", "_" and "-"',
      (found) => isText(found) && /^[A-Za-z_][\w.-]*$/.test(found as string),
    ),
    $ref: text,
    $comment: text,
    title: text,
    description: text,
    default: anything,
    examples: value('a list of values', isList),
    deprecated: flag,
    readOnly: flag,
    writeOnly: flag,
    contentEncoding: text,
    contentMediaType: text,
    contentSchema: anything,
  } satisfies Record<string, KeywordKind>),
);

/** Whether a value is a regular expression as ECMA-262 has them, with the flag `u`. */
export function isPattern(found: Json): boolean {
  if (typeof found !== 'string') return false;
  try {
    new RegExp(found, 'u');
    return true;
  } catch {
    return false;
  }
}
