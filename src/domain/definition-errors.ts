import { distance } from 'fastest-levenshtein';
import type { DefinitionError } from './definition.ts';
import { DEFINITION_LIMITS } from './definition.ts';
import { formatPath, type PathSegment } from './definition-path.ts';
import type { Json } from './json.ts';

/** An error as a check reports it: the path in segments, the value as it was found. */
export type FoundError = Omit<DefinitionError, 'path' | 'value'> & {
  readonly at: readonly PathSegment[];
  /** Shown cut. */
  readonly value?: unknown;
  /** Ids that the error is about, shown one by one in place of a value. */
  readonly members?: readonly string[];
};

/**
 * Collects the errors of one definition. It keeps at most `DEFINITION_LIMITS.errors` of them, so that a large
 * definition that is wrong everywhere still has an answer of bounded size, and says how many it left out.
 */
export class ErrorList {
  readonly #errors: DefinitionError[] = [];
  readonly #paths = new Set<string>();
  #leftOut = 0;

  /** Adds an error. */
  add({ at, value, members, ...error }: FoundError): void {
    if (this.#errors.length >= DEFINITION_LIMITS.errors) {
      this.#leftOut += 1;
      return;
    }
    const path = formatPath(at);
    this.#paths.add(path);
    const shown = members?.map(cut) ?? (value === undefined ? undefined : shownValue(value));
    this.#errors.push({ path, ...error, ...(shown === undefined ? {} : { value: shown }) });
  }

  /** Takes over errors of other checks, but for paths that have an error here already. */
  merge(errors: readonly DefinitionError[]): void {
    const isNew = errors.filter(({ path }) => !this.#paths.has(path));
    const taken = isNew.slice(0, DEFINITION_LIMITS.errors - this.#errors.length);
    this.#errors.push(...taken);
    this.#leftOut += isNew.length - taken.length;
  }

  /** Adds an error unless its path has one already: the earlier check knew more about that field. */
  addIfFirst(error: FoundError): void {
    if (!this.#paths.has(formatPath(error.at))) this.add(error);
  }

  /** True as long as nothing was added. */
  get isEmpty(): boolean {
    return this.#errors.length === 0;
  }

  /** All errors in the order in which they were found. */
  list(): DefinitionError[] {
    if (this.#leftOut === 0) return [...this.#errors];
    const message = `${this.#leftOut} more errors are not listed; correct those above first`;
    return [...this.#errors, { path: '', code: 'MORE_ERRORS', message }];
  }
}

/** Enough for a whole node id: two ids must never look the same. */
const SHOWN_LENGTH = DEFINITION_LIMITS.idLength;

/** The value of an error, short enough to print: long text is cut, lists and objects are only counted. */
export function shownValue(value: unknown): Json {
  if (typeof value === 'string') return cut(value);
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (Array.isArray(value)) return value.length === 0 ? [] : `[… ${value.length} entries]`;
  if (typeof value === 'object') return `{… ${Object.keys(value).length} fields}`;
  return cut(typeof value === 'bigint' ? String(value) : typeof value);
}

/** A user's text in double quotes, cut where it is long, for messages. */
export function quoted(text: string): string {
  return JSON.stringify(cut(text));
}

function cut(text: string): string {
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH).toWellFormed()}…`;
}

/** A parameter that a node's engine does not know. */
export interface UnknownParameter {
  /** The node's `params`. */
  readonly at: readonly PathSegment[];
  /** How messages name the node. */
  readonly owner: string;
  readonly engine: string;
  readonly key: string;
  readonly value: unknown;
  /** The parameters that the engine knows. */
  readonly known: readonly string[];
}

/** The error of a parameter that a node's engine does not know, with the one that was probably meant. */
export function unknownParameter({ at, owner, engine, key, value, known }: UnknownParameter): FoundError {
  const suggestion = nearMiss(key, known);
  const hint = suggestion === undefined ? '' : `; did you mean ${quoted(suggestion)}?`;
  return {
    at: [...at, key],
    code: 'UNKNOWN_FIELD',
    message: `${quoted(key)} is no parameter of the engine ${engine}, in ${owner}${hint}`,
    value,
    allowed: known.join(' | '),
    ...(suggestion !== undefined && { suggestion }),
  };
}

/**
 * The candidate that was probably meant by `word`, if one is near: the same but for case, blanks and punctuation,
 * or at most a third of it (three characters) mistyped.
 */
export function nearMiss(word: string, candidates: Iterable<string>): string | undefined {
  const folded = fold(word);
  let best: string | undefined;
  let bestDistance = Math.min(3, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    if (folded !== '' && fold(candidate) === folded) return candidate;
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const steps = distance(word, candidate);
    if (steps < bestDistance && !differInNumbers(word, candidate)) {
      best = candidate;
      bestDistance = steps;
    }
  }
  return best;
}

/** `part-1` and `part-2` are two things, not one of them mistyped. */
function differInNumbers(word: string, candidate: string): boolean {
  return word.replaceAll(/\d+/g, '#') === candidate.replaceAll(/\d+/g, '#');
}

function fold(text: string): string {
  return text.toLowerCase().replaceAll(/[\s._-]/g, '');
}
