/** A pattern that cannot be used; `path` is the place in it. */
export class EventPatternError extends Error {
  override readonly name = 'EventPatternError';
  readonly code = 'INVALID_PATTERN';
  /** Field names from the top, `detail.status`; empty for the pattern itself. */
  readonly path: string;

  constructor(path: readonly string[], message: string) {
    super(path.length === 0 ? message : `${path.join('.')}: ${message}`);
    this.path = path.join('.');
  }
}

/** Tells whether an event matches. */
export type EventMatcher = (event: Readonly<Record<string, unknown>>) => boolean;

/** A test of one value: text, number, boolean or null; undefined where the event does not have the field. */
type ValueTest = (value: unknown) => boolean;
type PatternObject = Readonly<Record<string, unknown>>;

/** The fields of an event; a pattern with another one at the top could never match. */
const EVENT_FIELDS = [
  'version',
  'id',
  'detail-type',
  'source',
  'account',
  'time',
  'region',
  'resources',
  'detail',
  'replay-name',
];

/** How deep the objects of a pattern may be nested. */
export const PATTERN_DEPTH = 32;

/**
 * Compiles an EventBridge pattern: exact values, `prefix`, `suffix`, `equals-ignore-case`, `anything-but`, `numeric`,
 * `exists` and `$or`. A field of the event that is a list matches if one of its elements does, `anything-but` included.
 * @throws {EventPatternError} for everything else, naming it: nothing of a pattern is ever ignored
 */
export function compileEventPattern(pattern: unknown): EventMatcher {
  if (!isObject(pattern)) throw new EventPatternError([], 'a pattern is an object');
  for (const field of fieldsOf(pattern)) {
    if (!EVENT_FIELDS.includes(field)) {
      throw new EventPatternError([field], `an event has no such field; it has ${EVENT_FIELDS.join(', ')}`);
    }
  }
  return compileObject(pattern, []);
}

/** The fields that a pattern names at its top, those within `$or` included. */
function fieldsOf(pattern: PatternObject): string[] {
  return Object.entries(pattern).flatMap(([field, value]) =>
    field === '$or' && Array.isArray(value) ? value.filter(isObject).flatMap(fieldsOf) : [field],
  );
}

function compileObject(pattern: PatternObject, path: readonly string[]): EventMatcher {
  const entries = Object.entries(pattern);
  if (entries.length === 0) throw new EventPatternError(path, 'an empty object would match everything');
  if (path.length >= PATTERN_DEPTH) throw new EventPatternError(path, `nested deeper than ${PATTERN_DEPTH}`);
  const tests = entries.map(([field, value]) => {
    const at = [...path, field];
    return field === '$or' && Array.isArray(value) ? compileOr(value, at) : compileField(field, value, at);
  });
  return (event) => tests.every((test) => test(event));
}

function compileOr(alternatives: readonly unknown[], path: readonly string[]): EventMatcher {
  if (alternatives.length < 2) throw new EventPatternError(path, 'takes a list of at least two patterns');
  const matchers = alternatives.map((alternative, index) => {
    const at = [...path, String(index)];
    if (!isObject(alternative)) throw new EventPatternError(at, 'is no pattern');
    return compileObject(alternative, at);
  });
  return (event) => matchers.some((matches) => matches(event));
}

function compileField(field: string, value: unknown, path: readonly string[]): EventMatcher {
  if (isObject(value)) {
    const matches = compileObject(value, path);
    return (event) => valuesOf(event, field).some((element) => matches(isObject(element) ? element : {}));
  }
  if (!Array.isArray(value)) throw new EventPatternError(path, 'takes a list of values, or an object');
  if (value.length === 0) throw new EventPatternError(path, 'an empty list would match nothing');
  const tests = value.map((element) => compileValue(element, path));
  return (event) => valuesOf(event, field).some((element) => tests.some((test) => test(element)));
}

/** The values that a field of an event stands for: the elements of a list, or undefined if there is nothing. */
function valuesOf(event: PatternObject, field: string): readonly unknown[] {
  return elementsOf(Object.hasOwn(event, field) ? event[field] : undefined);
}

function elementsOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) return [value];
  return value.length === 0 ? [undefined] : value.flatMap(elementsOf);
}

function compileValue(value: unknown, path: readonly string[]): ValueTest {
  if (isObject(value)) return compileOperator(value, path);
  if (!isScalar(value)) throw new EventPatternError(path, 'takes text, numbers, booleans, null and operators');
  return (found) => found === value;
}

const OPERATORS: ReadonlyMap<string, (operand: unknown, path: readonly string[]) => ValueTest> = new Map([
  ['prefix', compileText('prefix', (found, wanted) => found.startsWith(wanted))],
  ['suffix', compileText('suffix', (found, wanted) => found.endsWith(wanted))],
  [
    'equals-ignore-case',
    (operand, path) => {
      const wanted = textOf(operand, path).toLowerCase();
      return (found) => typeof found === 'string' && found.toLowerCase() === wanted;
    },
  ],
  ['anything-but', compileAnythingBut],
  ['numeric', compileNumeric],
  ['exists', compileExists],
]);

function compileOperator(operator: PatternObject, path: readonly string[]): ValueTest {
  const [name, ...others] = Object.keys(operator);
  if (name === undefined || others.length > 0) throw new EventPatternError(path, 'an operator is an object of one key');
  const compile = OPERATORS.get(name);
  const at = [...path, name];
  if (compile === undefined) {
    throw new EventPatternError(
      at,
      `this operator is not hosted; these are: ${[...OPERATORS.keys(), '$or'].join(', ')}`,
    );
  }
  return compile(operator[name], at);
}

/** `prefix` and `suffix`: a text, or a text in any case. */
function compileText(name: string, test: (found: string, wanted: string) => boolean) {
  return (operand: unknown, path: readonly string[]): ValueTest => {
    if (!isObject(operand)) {
      const wanted = textOf(operand, path);
      return (found) => typeof found === 'string' && test(found, wanted);
    }
    const [key, ...others] = Object.keys(operand);
    if (key !== 'equals-ignore-case' || others.length > 0) {
      throw new EventPatternError(path, `${name} takes a text or {"equals-ignore-case": text}`);
    }
    const wanted = textOf(operand[key], [...path, key]).toLowerCase();
    return (found) => typeof found === 'string' && test(found.toLowerCase(), wanted);
  };
}

const INVERTIBLE = ['prefix', 'suffix', 'equals-ignore-case'];

/** Matches a value that is there and is none of these. */
function compileAnythingBut(operand: unknown, path: readonly string[]): ValueTest {
  const excluded = isObject(operand) ? compileInverted(operand, path) : compileList(operand, path);
  return (found) => found !== undefined && !isObject(found) && !excluded.some((test) => test(found));
}

function compileInverted(operand: PatternObject, path: readonly string[]): ValueTest[] {
  const [name, ...others] = Object.keys(operand);
  if (name === undefined || others.length > 0 || !INVERTIBLE.includes(name)) {
    throw new EventPatternError(path, `takes a value, a list of values or one of ${INVERTIBLE.join(', ')}`);
  }
  const inner = operand[name];
  const values = Array.isArray(inner) ? inner : [inner];
  if (values.length === 0) throw new EventPatternError([...path, name], 'the list is empty');
  return values.map((value) => compileOperator({ [name]: value }, path));
}

function compileList(operand: unknown, path: readonly string[]): ValueTest[] {
  const values: unknown[] = Array.isArray(operand) ? operand : [operand];
  if (values.length === 0) throw new EventPatternError(path, 'the list is empty');
  return values.map((value) => {
    if (!isScalar(value)) throw new EventPatternError(path, 'takes text, numbers and booleans');
    return (found) => found === value;
  });
}

const COMPARISONS: ReadonlyMap<unknown, (found: number, wanted: number) => boolean> = new Map([
  ['<', (found: number, wanted: number) => found < wanted],
  ['<=', (found: number, wanted: number) => found <= wanted],
  ['=', (found: number, wanted: number) => found === wanted],
  ['>=', (found: number, wanted: number) => found >= wanted],
  ['>', (found: number, wanted: number) => found > wanted],
]);

function compileNumeric(operand: unknown, path: readonly string[]): ValueTest {
  const problem = 'takes a list like [">", 0, "<=", 5]';
  if (!Array.isArray(operand) || (operand.length !== 2 && operand.length !== 4)) {
    throw new EventPatternError(path, problem);
  }
  const tests: ((found: number) => boolean)[] = [];
  for (let index = 0; index < operand.length; index += 2) {
    const compare = COMPARISONS.get(operand[index]);
    const wanted: unknown = operand[index + 1];
    if (compare === undefined || typeof wanted !== 'number') throw new EventPatternError(path, problem);
    tests.push((found) => compare(found, wanted));
  }
  return (found) => typeof found === 'number' && tests.every((test) => test(found));
}

/** Only leaves exist: an object is not a value. */
function compileExists(operand: unknown, path: readonly string[]): ValueTest {
  if (typeof operand !== 'boolean') throw new EventPatternError(path, 'takes true or false');
  return (found) => (found !== undefined && !isObject(found)) === operand;
}

function textOf(value: unknown, path: readonly string[]): string {
  if (typeof value !== 'string') throw new EventPatternError(path, 'takes a text');
  return value;
}

function isScalar(value: unknown): value is string | number | boolean | null {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function isObject(value: unknown): value is PatternObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
