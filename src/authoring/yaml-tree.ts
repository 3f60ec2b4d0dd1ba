import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type Scalar, type YAMLMap } from 'yaml';
import { DEFINITION_LIMITS } from '#domain/definition.ts';
import { quoted } from '#domain/definition-errors.ts';
import { formatPath, type PathSegment } from '#domain/definition-path.ts';
import type { Json } from '#domain/json.ts';
import { integerProblem, type LocatedProblem, numberProblem } from '#domain/json-tree.ts';

/** Values that a document may have once its aliases are followed: a few lines of aliases can stand for billions. */
const MOST_VALUES = 1_000_000;

interface Anchored {
  readonly value: Json;
  /** Values that the anchor stands for. */
  readonly values: number;
}

interface Reading {
  readonly problems: LocatedProblem[];
  /** The way to the node being read; one array for the whole reading. */
  readonly at: PathSegment[];
  /** `undefined` while the anchor's own node is being read. */
  readonly anchors: Map<string, Anchored | undefined>;
  values: number;
}

/** Turns a composed YAML tree (at most 100 levels deep) into JSON. Values of aliases are shared, not copied. */
export function readYamlTree(root: ParsedNode | null): { value: Json; problems: readonly LocatedProblem[] } {
  const reading: Reading = { problems: [], at: [], anchors: new Map(), values: 0 };
  const value = read(root, reading);
  return { value, problems: reading.problems };
}

function read(node: ParsedNode | null, reading: Reading): Json {
  if (node === null) return null;
  if (isAlias(node)) return readAlias(node, reading);
  if (node.tag !== undefined) refuseTag(node.tag, node, reading);
  const { anchor } = node;
  if (anchor === undefined) return readContent(node, reading);
  const before = reading.values;
  reading.anchors.set(anchor, undefined);
  const value = readContent(node, reading);
  reading.anchors.set(anchor, { value, values: reading.values - before });
  return value;
}

function readContent(node: Exclude<ParsedNode, { source: string; anchor?: never }>, reading: Reading): Json {
  reading.values += 1;
  if (isMap<ParsedNode, ParsedNode | null>(node)) return readMap(node, reading);
  if (isSeq<ParsedNode>(node)) {
    return node.items.map((item, position) => {
      reading.at.push(position);
      const value = read(item, reading);
      reading.at.pop();
      return value;
    });
  }
  return readScalar(node as Scalar.Parsed, reading);
}

function readMap(map: YAMLMap<ParsedNode, ParsedNode | null>, reading: Reading): Json {
  const members = new Map<string, Json>();
  for (const { key, value } of map.items) {
    const name = readKey(key, reading);
    if (name === undefined) continue;
    reading.at.push(name);
    if (members.has(name)) {
      const message = `the key ${quoted(name)} is there twice in one object`;
      report(key, { code: 'DUPLICATE_KEY', message, value: name, allowed: 'each key once' }, reading);
    }
    members.set(name, read(value, reading));
    reading.at.pop();
  }
  return Object.fromEntries(members);
}

function readKey(key: ParsedNode, reading: Reading): string | undefined {
  if (isScalar(key)) {
    if (key.tag !== undefined) refuseTag(key.tag, key, reading);
    if (typeof key.value === 'string') return key.value;
  }
  const source = isScalar(key) ? (key.source ?? '') : undefined;
  const message = source === undefined ? 'a key must be text' : `the key ${source} is no text; write it in quotes`;
  const suggestion = source ? { suggestion: JSON.stringify(source) } : {};
  report(key, { code: 'INVALID_TYPE', message, allowed: 'text', ...suggestion }, reading);
  return undefined;
}

function readScalar(node: Scalar.Parsed, reading: Reading): Json {
  const { value, source } = node;
  if (typeof value === 'bigint') {
    const problem = integerProblem(value, source);
    if (problem !== undefined) report(node, { code: 'NUMBER_OUT_OF_RANGE', ...problem }, reading);
    return Number(value);
  }
  if (typeof value === 'number' && !Number.isFinite(value) && /\d/.test(source)) {
    const problem = numberProblem(source);
    if (problem !== undefined) report(node, { code: 'NUMBER_OUT_OF_RANGE', ...problem }, reading);
  }
  return value as Json;
}

function readAlias(alias: Extract<ParsedNode, { anchor?: never }>, reading: Reading): Json {
  const name = (alias as { readonly source: string }).source;
  const anchored = reading.anchors.get(name);
  if (anchored === undefined) {
    const why = reading.anchors.has(name) ? 'stands for a value that it is part of' : 'has no anchor before it';
    report(alias, { code: 'INVALID_YAML', message: `the alias *${name} ${why}`, value: name }, reading);
    return null;
  }
  const isWithin = reading.values <= MOST_VALUES;
  reading.values += anchored.values;
  if (isWithin && reading.values > MOST_VALUES) {
    const message = `the aliases up to here stand for more than ${MOST_VALUES} values`;
    report(alias, { code: 'TOO_LARGE', message, allowed: `at most ${MOST_VALUES} values` }, reading);
  }
  return reading.values > MOST_VALUES ? null : anchored.value;
}

function refuseTag(tag: string, node: ParsedNode, reading: Reading): void {
  const message = `the tag ${quoted(tag)} is not allowed; write text that looks like something else in quotes`;
  report(node, { code: 'INVALID_YAML', message, value: tag, allowed: 'no tags' }, reading);
}

function report(node: ParsedNode, problem: Omit<LocatedProblem, 'path' | 'offset'>, reading: Reading): void {
  if (reading.problems.length >= DEFINITION_LIMITS.errors) return;
  reading.problems.push({ path: formatPath(reading.at), ...problem, offset: node.range[0] });
}
