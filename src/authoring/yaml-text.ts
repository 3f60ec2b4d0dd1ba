/**
 * Reads YAML 1.2 strictly: one document, no tags, no equal keys, aliases within bounds.
 * The composer of the parser is recursive, and a stack that overflows in it can end the process; so nesting is
 * measured on the flat tokens first. It also compares keys pair by pair; so equal keys are looked for here.
 */
import { Composer, type CST, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from 'yaml';
import { DEFINITION_LIMITS } from '#domain/definition.ts';
import type { PathSegment } from '#domain/definition-path.ts';
import type { Json } from '#domain/json.ts';
import type { JsonTextResult, Locate } from '#domain/json-text.ts';
import type { LocatedProblem } from '#domain/json-tree.ts';
import { TextPlaces } from '#domain/text-places.ts';
import { readYamlTokens, tooDeep } from './yaml-tokens.ts';
import { readYamlTree } from './yaml-tree.ts';

/** Syntax errors that one answer lists: after the first few they follow from each other. */
const MOST_SYNTAX_ERRORS = 10;

/** What {@link parseYamlStrict} found, with a way to find places in the text if it could be read. */
export interface YamlTextResult {
  readonly result: JsonTextResult;
  readonly locate?: Locate;
}

/**
 * Parses YAML text. Codes: `INVALID_YAML`, `DUPLICATE_KEY`, `NUMBER_OUT_OF_RANGE`, `TOO_DEEP`, `TOO_LARGE`.
 * `.nan` and `.inf` come through as numbers, for the check of the field that they stand in.
 */
export function parseYamlStrict(text: string): YamlTextResult {
  const places = new TextPlaces(text);
  const read = readYamlTokens(text);
  if (!Array.isArray(read)) return { result: refused([read], places) };
  const refusal = unfitTokens(read);
  if (refusal !== undefined) return { result: refused([refusal], places) };
  const options = { version: '1.2', schema: 'core', intAsBigInt: true, uniqueKeys: false } as const;
  const [document] = new Composer(options).compose(read);
  if (document === undefined) return { result: { ok: true, value: null }, locate: () => places.at(0) };
  if (document.errors.length > 0) {
    const problems = document.errors.slice(0, MOST_SYNTAX_ERRORS).map(({ message, pos }) => invalid(message, pos[0]));
    return { result: refused(problems, places) };
  }
  const { value, problems } = readYamlTree(document.contents);
  const findPair = createPairFinder();
  const locate: Locate = (path, part) => places.at(offsetOf(document.contents, path, part, findPair));
  if (problems.length === 0) return { result: { ok: true, value }, locate };
  return { result: refused(problems, places, value), locate };
}

function refused(problems: readonly LocatedProblem[], places: TextPlaces, value?: Json): JsonTextResult {
  const errors = problems.map(({ offset, ...error }) => ({ ...error, ...places.at(offset) }));
  return value === undefined ? { ok: false, errors } : { ok: false, errors, value };
}

function invalid(message: string, offset: number): LocatedProblem {
  return { path: '', code: 'INVALID_YAML', message, offset };
}

function unfitTokens(tokens: readonly CST.Token[]): LocatedProblem | undefined {
  const [, second] = tokens.filter(({ type }) => type === 'document');
  if (second !== undefined)
    return invalid('a second YAML document begins here; one file is one pipeline', second.offset);
  const deep = offsetOfDepth(tokens);
  return deep === undefined ? undefined : tooDeep(deep);
}

function offsetOfDepth(tokens: readonly CST.Token[]): number | undefined {
  const open = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (token.type === 'document' && token.value !== undefined) open.push({ token: token.value, depth });
    if (!('items' in token)) continue;
    if (depth >= DEFINITION_LIMITS.nestingDepth) return token.offset;
    for (const { key, value } of token.items) {
      if (key) open.push({ token: key, depth: depth + 1 });
      if (value) open.push({ token: value, depth: depth + 1 });
    }
  }
  return undefined;
}

type ParsedMap = YAMLMap<ParsedNode, ParsedNode | null>;
type ParsedPair = ParsedMap['items'][number];
type FindPair = (map: ParsedMap, name: string) => ParsedPair | undefined;

/** Finds pairs by key, of equal ones the last. Each map is gone through once, however many places are asked for. */
function createPairFinder(): FindPair {
  const seen = new Map<ParsedMap, ReadonlyMap<unknown, ParsedPair>>();
  return (map, name) => {
    const pairs = seen.get(map) ?? byKey(map);
    seen.set(map, pairs);
    return pairs.get(name);
  };
}

function byKey({ items }: ParsedMap): Map<unknown, ParsedPair> {
  return new Map(items.flatMap((pair) => (isScalar(pair.key) ? [[pair.key.value, pair]] : [])));
}

function offsetOf(
  root: ParsedNode | null,
  path: readonly PathSegment[],
  part: 'key' | 'value',
  findPair: FindPair,
): number {
  let node = root;
  let offset = root?.range[0] ?? 0;
  for (const segment of path) {
    if (isSeq<ParsedNode>(node)) {
      node = node.items[Number(segment)] ?? null;
      offset = node?.range[0] ?? offset;
    } else if (isMap<ParsedNode, ParsedNode | null>(node)) {
      const pair = typeof segment === 'string' ? findPair(node, segment) : undefined;
      if (pair === undefined) break;
      node = pair.value;
      offset = (part === 'key' ? undefined : node?.range[0]) ?? pair.key.range[0];
    } else {
      break;
    }
  }
  return offset;
}
