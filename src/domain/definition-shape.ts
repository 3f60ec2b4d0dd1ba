import type * as z from 'zod';
import { DEFINITION_LIMITS } from './definition.ts';
import { type ErrorList, type FoundError, nearMiss, quoted } from './definition-errors.ts';
import { memberOf } from './definition-json.ts';
import type { PathSegment } from './definition-path.ts';
import type { Json } from './json.ts';

const NAME_ALLOWED = `made of letters, digits, ".", "_" and "-", at most ${DEFINITION_LIMITS.nameLength} characters, the first a letter or digit`;

/** What is right in a field whose schema only knows a kind or a pattern. */
const ALLOWED: Readonly<Record<string, string>> = {
  name: NAME_ALLOWED,
  engine: NAME_ALLOWED,
  pool: NAME_ALLOWED,
  schedule: `a list of at most ${DEFINITION_LIMITS.scheduleEntries} entries`,
  on: `a list of at most ${DEFINITION_LIMITS.errorNames} error names`,
  notOn: `a list of at most ${DEFINITION_LIMITS.errorNames} error names`,
  dependsOn: 'a list of node ids',
  when: 'an expression between {% and %}',
  branch: 'an expression between {% and %}',
  items: 'a list, or an expression between {% and %}',
  schema: 'a JSON Schema (2020-12): an object',
};

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
};

/** The levels at which a definition is checked: node by node, so that the issues of one node stay few. */
export interface ShapeSchemas {
  readonly outline: z.ZodObject;
  readonly scheduleEntry: z.ZodObject;
  readonly node: z.ZodObject;
}

/** Checks fields, kinds and ranges of a definition, the graph apart. */
export function checkShape(json: Json, schemas: ShapeSchemas, errors: ErrorList): void {
  checkObject(json, schemas.outline, [], errors);
  for (const [position, entry] of scheduleEntries(json).entries()) {
    checkObject(entry, schemas.scheduleEntry, ['schedule', position], errors);
  }
  const nodes = memberOf(json, 'nodes');
  if (!Array.isArray(nodes)) return;
  if (nodes.length === 0) {
    errors.add({ at: ['nodes'], code: 'EMPTY_PIPELINE', message: 'a pipeline needs at least one node', value: nodes });
  }
  if (nodes.length > DEFINITION_LIMITS.nodes) {
    const message = `the pipeline has ${nodes.length} nodes; those beyond the limit were not checked`;
    const allowed = `at most ${DEFINITION_LIMITS.nodes} nodes`;
    errors.add({ at: ['nodes'], code: 'TOO_MANY_NODES', message, value: nodes.length, allowed });
  }
  for (const [position, node] of nodes.slice(0, DEFINITION_LIMITS.nodes).entries()) {
    checkObject(node, schemas.node, ['nodes', position], errors);
  }
}

function scheduleEntries(json: Json): readonly Json[] {
  const schedule = memberOf(json, 'schedule');
  return Array.isArray(schedule) ? schedule.slice(0, DEFINITION_LIMITS.scheduleEntries) : [];
}

function checkObject(json: Json, schema: z.ZodObject, at: readonly PathSegment[], errors: ErrorList): void {
  const result = schema.safeParse(json);
  if (result.success) return;
  const place = { json, at, owner: ownerOf(json, at) };
  for (const issue of result.error.issues) {
    const path = issue.path as PathSegment[];
    if (issue.code === 'unrecognized_keys') {
      const known = Object.keys(schemaAt(schema, path).shape);
      for (const key of issue.keys) errors.add(unknownField(place, path, key, known));
    } else {
      errors.add({ at: [...at, ...path], ...explained(issue, path, valueAt(json, path), place.owner) });
    }
  }
}

interface Place {
  readonly json: Json;
  readonly at: readonly PathSegment[];
  /** How messages name the object at fault: `node "load"`, `the pipeline`. */
  readonly owner: string;
}

function ownerOf(json: Json, at: readonly PathSegment[]): string {
  if (at.length === 0) return 'the pipeline';
  const id = memberOf(json, 'id');
  const kind = at[0] === 'schedule' ? 'schedule entry' : 'node';
  return typeof id === 'string' ? `${kind} ${quoted(id)}` : `the ${kind} at position ${at[1]}`;
}

function unknownField(place: Place, path: PathSegment[], key: string, known: readonly string[]): FoundError {
  const at = [...place.at, ...path, key];
  const inside = path.length === 0 ? '' : `${path.join('.')} of `;
  const value = valueAt(place.json, [...path, key]);
  const suggestion = nearMiss(key, known);
  const hint = suggestion === undefined ? '' : `; did you mean ${quoted(suggestion)}?`;
  return {
    at,
    code: 'UNKNOWN_FIELD',
    message: `${quoted(key)} is no field of ${inside}${place.owner}${hint}`,
    value,
    allowed: known.join(' | '),
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

type Explained = Omit<FoundError, 'at'>;

function explained(issue: z.core.$ZodIssue, path: readonly PathSegment[], value: unknown, owner: string): Explained {
  const field = fieldOf(path);
  const inside = `${field === '' ? '' : `${field} of `}${owner}`;
  const limit = limitOf(field);
  if (value === undefined)
    return { code: 'INVALID_TYPE', message: `${inside} is missing`, allowed: kindOf(issue, field) };
  if (limit !== undefined) {
    return { code: 'INVALID_LIMIT', message: `${inside} must be ${limit}`, value, allowed: limit };
  }
  if (path.at(-2) === 'dependsOn' && (value === null || value === '')) return emptyDependency(owner, value);
  switch (issue.code) {
    case 'invalid_value': {
      const allowed = issue.values.join(' | ');
      const suggestion = typeof value === 'string' ? nearMiss(value, issue.values.map(String)) : undefined;
      const message = `${inside} must be one of ${allowed}`;
      return { code: 'INVALID_FIELD', message, value, allowed, ...(suggestion === undefined ? {} : { suggestion }) };
    }
    case 'invalid_format':
      return invalidName(inside, value);
    case 'too_big':
    case 'too_small':
      return tooLongOrEmpty(inside, value, field);
    default:
      return invalidType(inside, value, kindOf(issue, field));
  }
}

/** A dependency without an id: a list entry that was left blank. */
export function emptyDependency(owner: string, value: unknown): Explained {
  const message = `dependsOn of ${owner} has an entry that names no node`;
  return { code: 'EMPTY_DEPENDENCY', message, value, allowed: 'the id of a node' };
}

function invalidName(inside: string, value: unknown): Explained {
  const length = String(value).length;
  const limit = DEFINITION_LIMITS.nameLength;
  if (length <= limit) {
    const message = `${inside} must be ${NAME_ALLOWED}`;
    return { code: 'INVALID_ID', message, value, allowed: NAME_ALLOWED };
  }
  const message = `${inside} has ${length} characters; the limit is ${limit}`;
  return { code: 'ID_TOO_LONG', message, value, allowed: `at most ${limit} characters` };
}

function tooLongOrEmpty(inside: string, value: unknown, field: string): Explained {
  if (typeof value === 'string') {
    return {
      code: 'INVALID_FIELD',
      message: `${inside} has an empty text`,
      value,
      allowed: 'a text that is not empty',
    };
  }
  const entries = Array.isArray(value) ? value.length : 0;
  if (field === 'dependsOn') {
    const allowed = `at most ${DEFINITION_LIMITS.edges} edges`;
    return { code: 'TOO_MANY_EDGES', message: `${inside} has ${entries} entries`, value: entries, allowed };
  }
  const allowed = ALLOWED[lastName(field)] ?? 'fewer entries';
  return { code: 'INVALID_LIMIT', message: `${inside} has ${entries} entries`, value: entries, allowed };
}

function invalidType(inside: string, value: unknown, allowed: string): Explained {
  const unquoted = allowed === 'text' && (typeof value === 'number' || typeof value === 'boolean');
  const hint = unquoted ? '; write it in quotes' : '';
  const suggestion = unquoted ? JSON.stringify(String(value)) : undefined;
  return {
    code: 'INVALID_TYPE',
    message: `${inside} must be ${allowed}${hint}`,
    value,
    allowed,
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

/** `retry.maxAttempts`, `dependsOn`: the way inside the object, without positions in lists. */
function fieldOf(path: readonly PathSegment[]): string {
  return path.filter((segment) => typeof segment === 'string').join('.');
}

function lastName(field: string): string {
  return field.slice(field.lastIndexOf('.') + 1);
}

function limitOf(field: string): string | undefined {
  const name = lastName(field);
  switch (name) {
    case 'timeoutSeconds':
    case 'maxAttempts':
    case 'retainDays':
    case 'queueTimeoutSeconds':
    case 'ttlSeconds':
    case 'maxConcurrency':
    case 'toleratedFailureCount':
    case 'heartbeatSeconds':
    case 'priority':
    case 'maxActiveRuns':
    case 'catchUpWindowSeconds':
      return `a whole number from ${DEFINITION_LIMITS[name].min} to ${DEFINITION_LIMITS[name].max}`;
    case 'intervalSeconds':
    case 'backoffRate':
    case 'maxDelaySeconds':
    case 'toleratedFailurePercentage':
      return `a number from ${DEFINITION_LIMITS[name].min} to ${DEFINITION_LIMITS[name].max}`;
    default:
      return undefined;
  }
}

function kindOf(issue: z.core.$ZodIssue, field: string): string {
  const isEntry = typeof issue.path.at(-1) === 'number';
  const kind = issue.code === 'invalid_type' ? (KINDS[issue.expected] ?? issue.expected) : undefined;
  return isEntry ? (kind ?? 'text') : (ALLOWED[lastName(field)] ?? kind ?? 'another value');
}

function schemaAt(schema: z.ZodObject, path: readonly PathSegment[]): z.ZodObject {
  let found = schema;
  for (const segment of path) {
    const field = found.shape[segment] as z.ZodOptional<z.ZodObject> | z.ZodObject;
    found = 'unwrap' in field ? field.unwrap() : field;
  }
  return found;
}

function valueAt(json: Json, path: readonly PathSegment[]): unknown {
  let value: unknown = json;
  for (const segment of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = (value as Record<PathSegment, unknown>)[segment];
  }
  return value;
}
