/**
 * Checks the schema of a run's input when its pipeline is put, so that no start has to find out: every keyword known
 * and well formed, every reference inside the schema, no reference that leads back to itself at the same place, and
 * no more alternatives at one place than can be tried. Linear in the schema.
 */
import { DEFINITION_LIMITS } from './definition.ts';
import { type ErrorList, nearMiss, quoted } from './definition-errors.ts';
import type { PathSegment } from './definition-path.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { isPattern, KEYWORDS } from './schema-keywords.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** Keywords of other drafts, and what to write in their place. */
const OTHER_DRAFTS: ReadonlyMap<string, string> = new Map([
  ['id', 'leave it out'],
  ['dependencies', 'write dependentRequired or dependentSchemas'],
  ['additionalItems', 'write prefixItems with items'],
  ['$recursiveRef', 'write $ref'],
  ['$recursiveAnchor', 'write $anchor'],
  ['$dynamicRef', 'write $ref'],
  ['$dynamicAnchor', 'write $anchor'],
  ['nullable', 'write type: [ …, "null" ]'],
]);

interface Subschema {
  readonly at: readonly PathSegment[];
  /** Subschemas that are applied at the same place of the input. */
  readonly inPlace: number[];
  /** The reference that it makes, until that is resolved. */
  readonly ref?: string;
}

interface Reading {
  /** Where the schema stands in the definition. */
  readonly root: readonly PathSegment[];
  readonly errors: ErrorList;
  readonly subschemas: Subschema[];
  /** Subschemas by the JSON pointers and the anchors that name them, each with its `#`. */
  readonly names: Map<string, number>;
}

/** Checks a schema that stands at `input.schema` of a definition. */
export function checkInputSchema(schema: Json, errors: ErrorList): void {
  checkJsonSchema(schema, ['input', 'schema'], 'the schema of the input', errors);
}

/**
 * Checks a schema that values will be checked against.
 * @param root where it stands in the definition
 * @param name how messages call it
 */
export function checkJsonSchema(schema: Json, root: readonly PathSegment[], name: string, errors: ErrorList): void {
  const bytes = new TextEncoder().encode(JSON.stringify(schema)).length;
  const limit = DEFINITION_LIMITS.inputSchemaBytes;
  if (bytes > limit) {
    const message = `${name} has ${bytes} bytes as JSON`;
    errors.add({ at: root, code: 'INVALID_SCHEMA', message, value: bytes, allowed: `at most ${limit} bytes` });
    return;
  }
  const reading: Reading = { root, errors, subschemas: [], names: new Map() };
  readSchema(schema, root, '#', reading);
  resolveReferences(reading);
  checkPlaces(reading);
}

/** Reads a subschema and all that is in it. Its depth is that of the definition, which is limited. */
function readSchema(schema: Json, at: readonly PathSegment[], pointer: string, reading: Reading): number | undefined {
  if (typeof schema === 'boolean') {
    reading.names.set(pointer, reading.subschemas.length);
    return reading.subschemas.push({ at, inPlace: [] }) - 1;
  }
  if (!isJsonObject(schema)) {
    refuse(reading, at, 'a schema is an object, true or false', schema, 'an object, true or false');
    return undefined;
  }
  const ref = Object.hasOwn(schema, '$ref') ? schema['$ref'] : undefined;
  const index = reading.subschemas.length;
  const subschema: Subschema = { at, inPlace: [], ...(typeof ref === 'string' && { ref }) };
  reading.subschemas.push(subschema);
  reading.names.set(pointer, index);
  nameByAnchor(schema, at, index, reading);
  for (const [keyword, value] of Object.entries(schema)) readKeyword(keyword, value, subschema, pointer, reading);
  return index;
}

function readKeyword(keyword: string, value: Json, owner: Subschema, pointer: string, reading: Reading): void {
  const at = [...owner.at, keyword];
  const kind = KEYWORDS.get(keyword);
  if (!kind) {
    refuseUnknown(keyword, value, owner, reading);
    return;
  }
  if (kind.schemas === undefined) {
    if (!kind.isRight(value)) refuse(reading, at, `${quoted(keyword)} must be ${kind.allowed}`, value, kind.allowed);
    return;
  }
  const here = `${pointer}/${escaped(keyword)}`;
  for (const [segment, schema] of partsOf(kind.schemas, keyword, value, at, reading)) {
    const [partAt, partPointer] =
      segment === undefined ? [at, here] : [[...at, segment], `${here}/${escaped(String(segment))}`];
    const index = readSchema(schema, partAt, partPointer, reading);
    if (index !== undefined && kind.inPlace) owner.inPlace.push(index);
  }
}

/** The schemas of a keyword, each with the segment that leads to it. */
function partsOf(
  kind: 'one' | 'list' | 'map',
  keyword: string,
  value: Json,
  at: readonly PathSegment[],
  reading: Reading,
): readonly (readonly [PathSegment | undefined, Json])[] {
  if (kind === 'one') {
    if (keyword !== 'items' || !Array.isArray(value)) return [[undefined, value]];
    refuse(reading, at, 'a list of schemas for the first items is written prefixItems', value, 'a schema');
    return [];
  }
  if (kind === 'list') {
    if (Array.isArray(value) && value.length > 0) return [...value.entries()];
    refuse(reading, at, `${quoted(keyword)} must be a list of schemas`, value, 'a list of schemas, not empty');
    return [];
  }
  if (!isJsonObject(value)) {
    refuse(reading, at, `${quoted(keyword)} must be an object of schemas`, value, 'schemas by name');
    return [];
  }
  if (keyword === 'patternProperties') {
    for (const pattern of Object.keys(value)) {
      if (!isPattern(pattern))
        refuse(reading, [...at, pattern], `${quoted(pattern)} is no regular expression`, pattern);
    }
  }
  return Object.entries(value);
}

function refuseUnknown(keyword: string, value: Json, { at: owner }: Subschema, reading: Reading): void {
  const at = [...owner, keyword];
  const isRoot = owner.length === reading.root.length;
  if (keyword.startsWith('x-') || (keyword === '$id' && isRoot && typeof value === 'string')) return;
  if (keyword === '$schema') {
    const isRight = isRoot && (value === DIALECT || value === `${DIALECT}#`);
    if (!isRight) refuse(reading, at, 'the schema of an input is JSON Schema 2020-12', value, DIALECT);
    return;
  }
  const instead = OTHER_DRAFTS.get(keyword);
  if (instead !== undefined) {
    refuse(reading, at, `${quoted(keyword)} is not taken here; ${instead}`, value);
    return;
  }
  const suggestion = nearMiss(keyword, KEYWORDS.keys());
  const hint = suggestion === undefined ? '' : `; did you mean ${quoted(suggestion)}?`;
  const message = `${quoted(keyword)} is no keyword by which an input can be checked${hint}`;
  const allowed = 'a keyword of JSON Schema 2020-12, or a name that begins with "x-"';
  reading.errors.add({ at, code: 'INVALID_SCHEMA', message, value, allowed, ...(suggestion && { suggestion }) });
}

function nameByAnchor(schema: JsonObject, at: readonly PathSegment[], index: number, reading: Reading): void {
  const anchor = Object.hasOwn(schema, '$anchor') ? schema['$anchor'] : undefined;
  if (typeof anchor !== 'string') return;
  const name = `#${anchor}`;
  if (reading.names.has(name)) refuse(reading, [...at, '$anchor'], `there are two anchors ${quoted(anchor)}`, anchor);
  else reading.names.set(name, index);
}

function resolveReferences({ subschemas, names, errors }: Reading): void {
  for (const { ref, at, inPlace } of subschemas) {
    if (ref === undefined) continue;
    const target = names.get(readReference(ref));
    if (target !== undefined) {
      inPlace.push(target);
      continue;
    }
    const why = ref.startsWith('#')
      ? 'leads to no schema inside this one'
      : 'leads out of this schema; copy what it names into $defs';
    const message = `the reference ${quoted(ref)} ${why}`;
    const allowed = '#/$defs/…, or # and an anchor';
    errors.add({ at: [...at, '$ref'], code: 'INVALID_SCHEMA', message, value: ref, allowed });
  }
}

/**
 * How many schemas are tried at one place of the input, for each subschema: itself and all that it applies there.
 * Children are finished before their parents; whoever is met again unfinished leads back to itself.
 */
function checkPlaces({ root, subschemas, errors }: Reading): void {
  const costs = new Map<number, number>();
  const open = new Set<number>();
  for (const start of subschemas.keys()) {
    const stack = [start];
    while (stack.length > 0) {
      const index = stack.at(-1) as number;
      const { inPlace, at } = subschemas[index] as Subschema;
      if (costs.has(index)) {
        stack.pop();
        continue;
      }
      if (open.has(index)) {
        costs.set(
          index,
          inPlace.reduce((sum, one) => sum + (costs.get(one) ?? 0), 1),
        );
        open.delete(index);
        stack.pop();
        continue;
      }
      open.add(index);
      const circle = inPlace.find((one) => open.has(one));
      if (circle !== undefined) {
        const message = 'the schema leads back to itself without going deeper into the input';
        errors.addIfFirst({ at, code: 'INVALID_SCHEMA', message });
      }
      stack.push(...inPlace.filter((one) => !open.has(one) && !costs.has(one)));
    }
  }
  const most = Math.max(0, ...costs.values());
  if (most <= DEFINITION_LIMITS.schemasAtOnePlace) return;
  const message = 'the schema tries too many schemas at one place of the input';
  const allowed = `at most ${DEFINITION_LIMITS.schemasAtOnePlace}`;
  errors.addIfFirst({ at: root, code: 'INVALID_SCHEMA', message, allowed });
}

function refuse(reading: Reading, at: readonly PathSegment[], message: string, value: Json, allowed?: string): void {
  reading.errors.add({ at, code: 'INVALID_SCHEMA', message, value, ...(allowed !== undefined && { allowed }) });
}

/** A segment of a JSON pointer. */
function escaped(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The JSON pointer or the anchor, behind its `#`, that a reference names: without the escapes of addresses. */
export function readReference(ref: string): string {
  try {
    return decodeURIComponent(ref);
  } catch {
    return ref;
  }
}
