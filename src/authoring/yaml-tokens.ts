/**
 * Cuts YAML text into tokens, within bounds: the parser makes objects of half a kilobyte of each mark in the text, so
 * that a few megabytes of brackets would take more memory than a function has.
 */
import { type CST, Lexer, Parser } from 'yaml';
import { DEFINITION_LIMITS } from '#domain/definition.ts';
import type { LocatedProblem } from '#domain/json-tree.ts';

/** Marks, words and blanks that a text may have: twice as many as 10,000 nodes with 50,000 edges come to. */
const MOST_LEXEMES = 1_200_000;

/** Goes before a lexeme that is a scalar, whatever it looks like; no part of the text. */
const SCALAR = '\u001f';
/** Beside {@link SCALAR}: a document begins, a flow collection ends too early. */
const MARKS = new Set([SCALAR, '\u0002', '\u0018']);

/** The tokens of a text, or why there are too many of them. */
export function readYamlTokens(text: string): CST.Token[] | LocatedProblem {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  const reading = { offset: 0, lexemes: 0, depth: 0, isScalar: false };
  for (const lexeme of new Lexer().lex(text)) {
    const refusal = take(lexeme, reading);
    if (refusal) return refusal;
    for (const token of parser.next(lexeme)) tokens.push(token);
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

interface Reading {
  offset: number;
  lexemes: number;
  /** Brackets and braces that are open. */
  depth: number;
  isScalar: boolean;
}

function take(lexeme: string, reading: Reading): LocatedProblem | undefined {
  reading.lexemes += 1;
  if (!reading.isScalar) reading.depth = Math.max(0, reading.depth + depthChange(lexeme));
  reading.isScalar = lexeme === SCALAR;
  if (reading.lexemes > MOST_LEXEMES) return tooMany(reading);
  if (reading.depth > DEFINITION_LIMITS.nestingDepth) return tooDeep(reading.offset);
  if (!MARKS.has(lexeme)) reading.offset += lexeme.length;
  return undefined;
}

function depthChange(lexeme: string): number {
  switch (lexeme) {
    case '[':
    case '{':
      return 1;
    case ']':
    case '}':
      return -1;
    default:
      return 0;
  }
}

function tooMany({ offset }: Reading): LocatedProblem {
  const message = `the text has more than ${MOST_LEXEMES} words, marks and blanks`;
  return { path: '', code: 'TOO_LARGE', message, allowed: `at most ${MOST_LEXEMES}`, offset };
}

/** The problem of a value that is nested too deeply. */
export function tooDeep(offset: number): LocatedProblem {
  const message = `lists and objects are nested more than ${DEFINITION_LIMITS.nestingDepth} levels deep`;
  const allowed = `at most ${DEFINITION_LIMITS.nestingDepth} levels`;
  return { path: '', code: 'TOO_DEEP', message, allowed, offset };
}
