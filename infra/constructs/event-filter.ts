/**
 * Filters of triggers, checked while the app is synthesized: a filter that EventBridge, or whoever wrote it, would take
 * for another one is refused here, since a rule that matches too much starts runs.
 */
import { distance } from 'fastest-levenshtein';
import { SynthesisError } from './synthesis-error.ts';

/** An EventBridge pattern in its JSON form: `{ source: ['orders'], 'detail-type': ['OrderPlaced'] }`. */
export type EventFilter = { readonly [field: string]: unknown };

/** Levels of objects in a filter. */
export const MAX_FILTER_DEPTH = 32;
/** Characters of a filter in JSON. https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-quota.html */
export const MAX_FILTER_LENGTH = 2048;

const EVENT_FIELDS = ['source', 'detail-type', 'detail', 'resources', 'account', 'region', 'time', 'id', 'version'];
/** Fields of which a filter has to name one: the others are alike in all events of an account. */
const TELLING_FIELDS = ['source', 'detail-type', 'detail', 'resources'];
const LONGEST_SLIP = 3;

type Path = readonly (string | number)[];

/**
 * Checks a filter.
 * @throws SynthesisError `INVALID_FILTER`, naming the part, for one that is empty or holds an empty part, names a field
 * or an operator that there is not, or is too deep or too long
 */
export function checkFilter(filter: unknown): void {
  checkObject(filter, [], 1);
  const fields = namedFields(filter as EventFilter);
  for (const { field, path } of fields) {
    if (!EVENT_FIELDS.includes(field)) throw unknownPart(path, 'field of an event', field, EVENT_FIELDS);
  }
  if (!fields.some(({ field }) => TELLING_FIELDS.includes(field))) {
    throw invalid([], `matches every event; name at least one of ${TELLING_FIELDS.join(', ')}`);
  }
  const { length } = JSON.stringify(filter);
  if (length > MAX_FILTER_LENGTH) throw invalid([], `has ${length} characters; EventBridge takes ${MAX_FILTER_LENGTH}`);
}

/** The fields of an event that a filter names, within `$or` too. */
export function namedFields(
  filter: EventFilter,
  path: Path = [],
): { readonly field: string; readonly path: Path; readonly value: unknown }[] {
  return Object.entries(filter).flatMap(([field, value]) => {
    const at = [...path, field];
    if (field !== '$or' || !Array.isArray(value)) return [{ field, path: at, value }];
    return value.flatMap((one: unknown, index) => (isObject(one) ? namedFields(one, [...at, index]) : []));
  });
}

/** What is wrong with a filter, as an error. */
export function invalid(path: Path, message: string): SynthesisError {
  const place = path.length === 0 ? 'The filter' : `The filter at ${path.join('.')}`;
  return new SynthesisError('INVALID_FILTER', `${place} ${message}.`);
}

function checkObject(value: unknown, path: Path, depth: number): void {
  if (!isObject(value)) throw invalid(path, 'must be an object');
  if (depth > MAX_FILTER_DEPTH) throw invalid(path, `nests more than ${MAX_FILTER_DEPTH} levels deep`);
  const entries = Object.entries(value);
  if (entries.length === 0) throw invalid(path, 'is empty, and would match everything');
  for (const [field, part] of entries) {
    const at = [...path, field];
    if (field === '$or') checkAlternatives(part, at, depth);
    else if (isObject(part)) checkObject(part, at, depth + 1);
    else checkValues(part, at);
  }
}

function checkAlternatives(value: unknown, path: Path, depth: number): void {
  if (!Array.isArray(value) || value.length < 2) throw invalid(path, 'must be a list of at least two filters');
  for (const [index, one] of value.entries()) checkObject(one, [...path, index], depth + 1);
}

function checkValues(values: unknown, path: Path): void {
  if (!Array.isArray(values)) throw invalid(path, 'must be a list of values, or an object');
  if (values.length === 0) throw invalid(path, 'is an empty list, and would match nothing');
  for (const [index, value] of values.entries()) {
    if (isObject(value)) checkOperator(value, [...path, index]);
    else if (!isScalar(value)) throw invalid([...path, index], 'must be a text, number, boolean, null or an operator');
  }
}

type OperandCheck = (operand: unknown, path: Path) => void;

const OPERATORS: ReadonlyMap<string, OperandCheck> = new Map([
  ['prefix', checkTextOperand],
  ['suffix', checkTextOperand],
  ['equals-ignore-case', checkText],
  ['wildcard', checkText],
  ['cidr', checkText],
  ['anything-but', checkAnythingBut],
  ['numeric', checkNumeric],
  ['exists', checkBoolean],
]);
const INVERTIBLE = ['prefix', 'suffix', 'equals-ignore-case', 'wildcard'];

function checkOperator(operator: EventFilter, path: Path): void {
  const { name, operand } = onlyEntry(operator, path);
  const check = OPERATORS.get(name);
  if (!check) throw unknownPart([...path, name], 'operator', name, [...OPERATORS.keys()]);
  check(operand, [...path, name]);
}

function onlyEntry(value: EventFilter, path: Path): { readonly name: string; readonly operand: unknown } {
  const [first, ...others] = Object.entries(value);
  if (!first || others.length > 0) throw invalid(path, 'must be an operator, an object of one key');
  return { name: first[0], operand: first[1] };
}

function checkText(operand: unknown, path: Path): void {
  if (typeof operand !== 'string') throw invalid(path, 'must be a text');
  if (operand === '') throw invalid(path, 'is an empty text');
}

function checkTextOperand(operand: unknown, path: Path): void {
  if (!isObject(operand)) {
    checkText(operand, path);
    return;
  }
  const { name, operand: inner } = onlyEntry(operand, path);
  if (name !== 'equals-ignore-case') throw unknownPart([...path, name], 'operator', name, ['equals-ignore-case']);
  checkText(inner, [...path, name]);
}

function checkAnythingBut(operand: unknown, path: Path): void {
  if (!isObject(operand)) {
    checkList(operand, path, isTextOrNumber, 'texts and numbers');
    return;
  }
  const { name, operand: inner } = onlyEntry(operand, path);
  if (!INVERTIBLE.includes(name)) throw unknownPart([...path, name], 'operator', name, INVERTIBLE);
  checkList(inner, [...path, name], (value) => typeof value === 'string' && value !== '', 'texts that are not empty');
}

function checkList(operand: unknown, path: Path, isRight: (value: unknown) => boolean, what: string): void {
  const values: unknown[] = Array.isArray(operand) ? operand : [operand];
  if (values.length === 0) throw invalid(path, 'is an empty list');
  if (!values.every(isRight)) throw invalid(path, `must be one of, or a list of, ${what}`);
}

const COMPARISONS = ['<', '<=', '=', '>=', '>'];

function checkNumeric(operand: unknown, path: Path): void {
  const parts: unknown[] = Array.isArray(operand) ? operand : [];
  const isRight = parts.every((part, at) =>
    at % 2 === 0 ? COMPARISONS.includes(part as string) : Number.isFinite(part),
  );
  if (![2, 4].includes(parts.length) || !isRight) throw invalid(path, 'must be a list like [">", 0, "<=", 5]');
}

function checkBoolean(operand: unknown, path: Path): void {
  if (typeof operand !== 'boolean') throw invalid(path, 'must be true or false');
}

function unknownPart(path: Path, what: string, name: string, known: readonly string[]): SynthesisError {
  const near = known.find((one) => fold(one) === fold(name)) ?? nearest(name, known);
  const hint = near === undefined ? `there are ${known.join(', ')}` : `did you mean ${JSON.stringify(near)}?`;
  return invalid(path, `names no ${what}: ${hint}`);
}

function nearest(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((one) => ({ one, slips: distance(one, name) }))
    .filter(({ slips }) => slips <= Math.min(LONGEST_SLIP, Math.floor(name.length / 2)))
    .sort((a, b) => a.slips - b.slips);
  return best?.one;
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}

function isTextOrNumber(value: unknown): boolean {
  return typeof value === 'string' || Number.isFinite(value);
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value === 'boolean' || isTextOrNumber(value);
}

function isObject(value: unknown): value is EventFilter {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
