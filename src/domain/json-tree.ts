import type { ArrayNode, NumberNode, ObjectNode, StringNode, ValueNode } from '@humanwhocodes/momoa';
import { DEFINITION_LIMITS, type DefinitionError } from './definition.ts';
import { quoted } from './definition-errors.ts';
import { INTEGER_RANGE } from './definition-json.ts';
import { formatPath, type PathSegment } from './definition-path.ts';

/** An error at an offset into the text that was read. */
export type LocatedProblem = DefinitionError & { readonly offset: number };

interface Check {
  readonly text: string;
  readonly problems: LocatedProblem[];
  /** The way to the node being looked at; one array for the whole check. */
  readonly at: PathSegment[];
}

/**
 * Finds what JSON syntax allows but a value does not survive: equal keys, integers beyond 2^53 and numbers beyond all
 * bounds, halves of surrogate pairs, bare control characters. The tree is at most 100 levels deep.
 */
export function checkTree(root: ValueNode, text: string): readonly LocatedProblem[] {
  const check: Check = { text, problems: [], at: [] };
  visit(root, check);
  return check.problems;
}

function visit(node: ValueNode, check: Check): void {
  if (check.problems.length >= DEFINITION_LIMITS.errors) return;
  if (node.type === 'Object') visitObject(node, check);
  else if (node.type === 'Array') visitArray(node, check);
  else if (node.type === 'String') checkString(node, check);
  else if (node.type === 'Number') checkNumber(node, check);
}

function visitArray({ elements }: ArrayNode, check: Check): void {
  for (const [position, { value }] of elements.entries()) {
    check.at.push(position);
    visit(value, check);
    check.at.pop();
  }
}

function visitObject({ members }: ObjectNode, check: Check): void {
  const seen = new Set<string>();
  for (const { name, value } of members) {
    if (name.type !== 'String') continue;
    const key = name.value;
    check.at.push(key);
    checkString(name, check);
    if (seen.has(key)) {
      const allowed = 'each key once';
      const message = `the key ${quoted(key)} is there twice in one object`;
      report(name, { code: 'DUPLICATE_KEY', message, value: key, allowed }, check);
    }
    seen.add(key);
    visit(value, check);
    check.at.pop();
  }
}

function checkString(node: StringNode, check: Check): void {
  if (!node.value.isWellFormed()) {
    const message = 'the text holds half of a surrogate pair, which is no Unicode character';
    report(node, { code: 'INVALID_UNICODE', message, value: node.value.toWellFormed() }, check);
  }
  const { start, end } = node.loc;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are the characters that JSON forbids here
  const bare = check.text.slice(start.offset, end.offset).search(/[\u0000-\u001f]/);
  if (bare === -1) return;
  const code = check.text
    .charCodeAt(start.offset + bare)
    .toString(16)
    .padStart(4, '0');
  const message = `a control character must be written as \\u${code} in JSON text`;
  report(node, { code: 'INVALID_JSON', message }, check, bare);
}

function checkNumber(node: NumberNode, check: Check): void {
  const literal = check.text.slice(node.loc.start.offset, node.loc.end.offset);
  const problem = numberProblem(literal);
  if (problem !== undefined) report(node, { code: 'NUMBER_OUT_OF_RANGE', ...problem }, check);
}

/** What is wrong with a number, for an error that says so. */
export type NumberProblem = Pick<DefinitionError, 'message' | 'value' | 'allowed'>;

/** What is wrong with a number as it is written, if anything: the number itself has lost the digits that tell. */
export function numberProblem(literal: string): NumberProblem | undefined {
  if (!Number.isFinite(Number(literal))) {
    const shown = cutLiteral(literal);
    return { message: `${shown} is larger than any number can be`, value: shown, allowed: 'numbers up to 1.7e308' };
  }
  return /^-?\d{16,}$/.test(literal) ? integerProblem(BigInt(literal), literal) : undefined;
}

/** What is wrong with an integer, however it is written. */
export function integerProblem(integer: bigint, literal: string): NumberProblem | undefined {
  if (integer <= 2n ** 53n && integer >= -(2n ** 53n)) return undefined;
  const shown = cutLiteral(literal);
  const message = `${shown} is an integer beyond 2^53, which loses digits on its way; write it as text`;
  return { message, value: shown, allowed: INTEGER_RANGE };
}

function cutLiteral(literal: string): string {
  return literal.length <= 40 ? literal : `${literal.slice(0, 40)}…`;
}

type Problem = Omit<LocatedProblem, 'path' | 'offset'>;

function report(node: StringNode | NumberNode, problem: Problem, { problems, at }: Check, shift = 0): void {
  problems.push({ path: formatPath(at), ...problem, offset: node.loc.start.offset + shift });
}
