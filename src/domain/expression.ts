/**
 * What an expression reads, found by parsing it and never by evaluating it.
 * Safe for hostile text: jsonata's parser is recursive, so text that could exhaust the stack is refused before the
 * parser sees it (a stack that overflows inside a regular expression ends the whole process).
 */
import jsonata from 'jsonata';
import type { PathSegment } from './definition-path.ts';
import { type ExpressionReferences, readsOf } from './expression-references.ts';
import type { Json } from './json.ts';

/** Limits of one expression. */
export const EXPRESSION_LIMITS = {
  /** Characters between `{%` and `%}`. */
  length: 16 * 1024,
  /** Operators, brackets and other punctuation, those inside quotes included. */
  punctuation: 1000,
  /** Brackets that are opened, those inside quotes included. */
  brackets: 400,
  /** Levels of the parsed expression. */
  depth: 250,
} as const;

/** Where an expression cannot be used, and why. */
interface ExpressionSyntaxError {
  readonly message: string;
  /** Characters into the expression at which its parser gave up. 0 where the whole is at fault. */
  readonly position: number;
}

/** What an expression may read, or why it is none. */
export interface References extends ExpressionReferences {
  readonly syntaxError?: ExpressionSyntaxError;
}

/** True for a text that is an expression as a whole: `{% … %}`, as in Step Functions. */
export function isExpression(value: string): boolean {
  return value.length >= 4 && value.startsWith('{%') && value.endsWith('%}');
}

/** The JSONata between `{%` and `%}`. */
export function expressionText(value: string): string {
  return value.slice(2, -2).trim();
}

/** An expression in a template: where it stands and what it says. */
export interface PlacedExpression {
  readonly path: readonly PathSegment[];
  readonly text: string;
}

/** Every expression of a template, in the order in which they are written. Keys of objects are never expressions. */
export function expressionsIn(template: Json): PlacedExpression[] {
  return textsIn(template)
    .filter(({ text }) => isExpression(text))
    .map(({ path, text }) => ({ path, text: expressionText(text) }));
}

/** Every text of a JSON value with its place, in the order in which they are written. */
export function textsIn(template: Json): PlacedExpression[] {
  const found: PlacedExpression[] = [];
  const open: { readonly path: readonly PathSegment[]; readonly value: Json }[] = [{ path: [], value: template }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, value } = next;
    if (typeof value === 'string') found.push({ path, text: value });
    if (typeof value !== 'object' || value === null) continue;
    const members: [PathSegment, Json][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
    for (const [segment, member] of members.reverse()) open.push({ path: [...path, segment], value: member });
  }
  return found;
}

const CACHE_ENTRIES = 10_000;
const CACHED_LENGTH = 1000;
const cache = new Map<string, References>();

/**
 * Tells what an expression (without its `{% %}`) may read of a run. It errs on the side of more: whatever is not
 * plainly one node counts as all of them.
 */
export function referencesOf(text: string): References {
  const known = cache.get(text);
  if (known !== undefined) return known;
  const references = parseReferences(text);
  if (text.length <= CACHED_LENGTH) {
    if (cache.size >= CACHE_ENTRIES) cache.delete(cache.keys().next().value as string);
    cache.set(text, references);
  }
  return references;
}

/** Punctuation in an expression, which bounds how deep and how slow its parsing can be. */
export function punctuationOf(text: string): number {
  return text.match(/[!-#%-/:-@[-^`{-~]/g)?.length ?? 0;
}

function parseReferences(text: string): References {
  const tooMuch = exceededLimit(text);
  if (tooMuch !== undefined) return unusable(tooMuch);
  try {
    const found = readsOf(jsonata(text).ast());
    if (found.depth > EXPRESSION_LIMITS.depth)
      return unusable(`it nests more than ${EXPRESSION_LIMITS.depth} levels deep`);
    return found.usesEval ? unusable('$eval is not available') : found.references;
  } catch (error) {
    const { message, position } = error as Partial<jsonata.JsonataError>;
    return unusable(message ?? 'it cannot be parsed', position);
  }
}

function exceededLimit(text: string): string | undefined {
  const { length, punctuation, brackets } = EXPRESSION_LIMITS;
  if (text.length > length) return `it has ${text.length} characters; the limit is ${length}`;
  const used = punctuationOf(text);
  if (used > punctuation) return `it has ${used} operators and brackets; the limit is ${punctuation}`;
  const opened = text.match(/[([{]/g)?.length ?? 0;
  return opened > brackets ? `it opens ${opened} brackets; the limit is ${brackets}` : undefined;
}

function unusable(message: string, position = 0): References {
  return { input: false, nodes: new Set(), syntaxError: { message, position } };
}
