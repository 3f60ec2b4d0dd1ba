/**
 * Reads JSON text strictly: what `JSON.parse` would change or drop in silence (the earlier of two equal keys, the last
 * digits of a large integer, half of a surrogate pair) is an error with its place. The value itself comes from
 * `JSON.parse`; the syntax tree only says what else is in the text, and where.
 */
import { type MemberNode, type ObjectNode, parse, type ValueNode } from '@humanwhocodes/momoa';
import { DEFINITION_LIMITS, type DefinitionError } from './definition.ts';
import type { PathSegment } from './definition-path.ts';
import type { Json } from './json.ts';
import { checkTree, type LocatedProblem } from './json-tree.ts';
import { type TextPlace, TextPlaces } from './text-places.ts';

/** An error in a text, always with its place. */
type TextError = DefinitionError & TextPlace;

/** What {@link parseJsonStrict} found. */
export type JsonTextResult =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly errors: readonly TextError[];
      /** What the text says all the same, where only keys, numbers or characters in it are at fault. */
      readonly value?: Json;
    };

/**
 * Parses JSON text. Codes: `INVALID_JSON`, `DUPLICATE_KEY`, `NUMBER_OUT_OF_RANGE`, `INVALID_UNICODE`, `TOO_DEEP`
 * (more than 100 levels). Keys such as `__proto__` become ordinary members.
 */
export function parseJsonStrict(text: string): JsonTextResult {
  const places = new TextPlaces(text);
  const refused = (problems: readonly LocatedProblem[], value?: Json): JsonTextResult => {
    const errors = problems.map(({ offset, ...error }) => ({ ...error, ...places.at(offset) }));
    return value === undefined ? { ok: false, errors } : { ok: false, errors, value };
  };
  const deep = offsetOfDepth(text);
  if (deep !== undefined) return refused([tooDeep(deep)]);
  const tree = parseTree(text);
  if ('unexpectedAt' in tree) return refused([unexpected(text, tree.unexpectedAt)]);
  const problems = checkTree(tree.body, text);
  const value = nativeValue(text);
  if (value === undefined) return refused(problems.length > 0 ? problems : [unexpected(text, 0)]);
  return problems.length === 0 ? { ok: true, value } : refused(problems, value);
}

/** Finds places in JSON text by path: of a member's key or of its value. */
export type Locate = (path: readonly PathSegment[], part: 'key' | 'value') => TextPlace;

/**
 * Makes a {@link Locate} for a text that {@link parseJsonStrict} could read. Where a path leads to nothing, it gives
 * the place of the last value on the way.
 */
export function locateInJson(text: string): Locate {
  const places = new TextPlaces(text);
  const { body } = parse(text, { mode: 'json' });
  const findMember = createMemberFinder();
  return (path, part) => places.at(offsetOf(body, path, part, findMember));
}

type FindMember = (object: ObjectNode, name: string) => MemberNode | undefined;

/** Finds members by name, of equal ones the last. Each object is gone through once, however many places are asked for. */
function createMemberFinder(): FindMember {
  const seen = new Map<ObjectNode, ReadonlyMap<string, MemberNode>>();
  return (object, name) => {
    const members = seen.get(object) ?? byName(object);
    seen.set(object, members);
    return members.get(name);
  };
}

function byName({ members }: ObjectNode): Map<string, MemberNode> {
  return new Map(members.flatMap((member) => (member.name.type === 'String' ? [[member.name.value, member]] : [])));
}

function offsetOf(
  root: ValueNode,
  path: readonly PathSegment[],
  part: 'key' | 'value',
  findMember: FindMember,
): number {
  let node = root;
  let offset = node.loc.start.offset;
  for (const segment of path) {
    if (node.type === 'Array' && typeof segment === 'number') {
      const element = node.elements[segment];
      if (element === undefined) break;
      node = element.value;
      offset = node.loc.start.offset;
    } else if (node.type === 'Object') {
      const member = typeof segment === 'string' ? findMember(node, segment) : undefined;
      if (member === undefined) break;
      node = member.value;
      offset = part === 'key' ? member.loc.start.offset : node.loc.start.offset;
    } else {
      break;
    }
  }
  return offset;
}

type Tree = { readonly body: ValueNode } | { readonly unexpectedAt: number };

function parseTree(text: string): Tree {
  try {
    return parse(text, { mode: 'json' });
  } catch (error) {
    const { offset } = error as { readonly offset?: number };
    return { unexpectedAt: nativeOffset(text) ?? offset ?? 0 };
  }
}

/** Where `JSON.parse` gives up, which is the better place if its message names one. */
function nativeOffset(text: string): number | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const { message } = error as SyntaxError;
    const position = / at position (\d+)/.exec(message)?.[1];
    if (position !== undefined) return Number(position);
    return message.includes('end of JSON input') ? text.length : undefined;
  }
}

function nativeValue(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/**
 * The offset at which the text nests deeper than allowed. It is looked for before anything is parsed, since the tree
 * is built by recursion.
 */
function offsetOfDepth(text: string): number | undefined {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]+|\\.)*"?|[[\]{}]/gs)) {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    if (depth > DEFINITION_LIMITS.nestingDepth) return index;
  }
  return undefined;
}

function tooDeep(offset: number): LocatedProblem {
  const allowed = `at most ${DEFINITION_LIMITS.nestingDepth} levels`;
  const message = `lists and objects are nested more than ${DEFINITION_LIMITS.nestingDepth} levels deep`;
  return { path: '', code: 'TOO_DEEP', message, allowed, offset };
}

function unexpected(text: string, offset: number): LocatedProblem {
  const found = /^(?:[\w$.+-]+|.)/su.exec(text.slice(offset, offset + 40))?.[0];
  const message =
    found === undefined ? 'the JSON text ends too early' : `${JSON.stringify(found)} is no valid JSON here`;
  return { path: '', code: 'INVALID_JSON', message, offset };
}
