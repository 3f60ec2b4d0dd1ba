/** Reading of a parsed expression: which variables it names, and which of its paths leads nowhere. */
import type { ExprNode } from 'jsonata';
import type { ExpressionVariables } from './expression-variables.ts';

/** Names (without `$`) of all variables in an expression, those of functions included. */
export function variableNamesIn(tree: ExprNode): Set<string> {
  const names = new Set<string>();
  for (const node of nodesOf(tree)) if (node.type === 'variable') names.add(String(node.value));
  return names;
}

/**
 * Says which path of an expression leads nowhere, and from where on: `$nodes.extract.output.rows is missing`.
 * Only plain paths from a variable on are followed, up to their first filter, call or wildcard: the rest cannot be told
 * without evaluating it. An expression that begins with a bare name misses that, since it has nothing to look into.
 */
export function describeMissingPath(
  tree: ExprNode,
  variables: ExpressionVariables,
  isFunction: (name: string) => boolean,
): string | undefined {
  const own = namesBoundIn(tree);
  const isRead = ({ type, value }: ExprNode) =>
    type === 'variable' && !CONTEXT_VARIABLES.has(value) && !own.has(value) && !isFunction(value);
  const paths = nodesOf(tree)
    .filter((node) => node.type === ('path' as ExprNode['type']))
    .map((node) => node.steps ?? []);
  const roots = [...paths, [tree]].filter(([first]) => first !== undefined && isRead(first));
  roots.sort(([one], [other]) => (one?.position ?? 0) - (other?.position ?? 0));
  for (const steps of roots) {
    const missing = firstMissing(steps, variables);
    if (missing !== undefined) return missing;
  }
  const [first] = tree.steps ?? [];
  return first?.type === 'name' ? `${quoted(first.value)} is missing` : undefined;
}

/** `$` and `$$`, whose values depend on where they stand. */
const CONTEXT_VARIABLES: ReadonlySet<string> = new Set(['', '$']);

function firstMissing(steps: readonly ExprNode[], variables: ExpressionVariables): string | undefined {
  let values: unknown[] = [];
  let written = '';
  for (const [index, step] of steps.entries()) {
    if (index === 0) {
      values = [variables[step.value]];
      written = `$${step.value}`;
    } else {
      if (step.type !== 'name') return undefined;
      values = members(values, step.value);
      written += `.${quoted(step.value)}`;
    }
    if (values.every((value) => value === undefined))
      return `${written} is missing${stateOf(steps.slice(0, index), variables)}`;
    if (isFiltered(step)) return undefined;
  }
  return undefined;
}

/** What became of a node that has no output or no error; nothing for other paths. */
function stateOf([root, node, ...more]: readonly ExprNode[], { nodes }: ExpressionVariables): string {
  if (root?.value !== 'nodes' || node === undefined || more.length > 0) return '';
  const { state } = (nodes as Record<string, { state: string }>)[node.value] ?? {};
  return state === undefined ? '' : ` (the node is ${state})`;
}

/** As JSONata looks up a name: lists are looked through. */
function members(values: readonly unknown[], name: string): unknown[] {
  const objects = values.flat(Number.POSITIVE_INFINITY).filter((value) => typeof value === 'object' && value !== null);
  return objects.filter((object) => Object.hasOwn(object, name)).map((object) => Reflect.get(object, name));
}

function isFiltered(step: ExprNode): boolean {
  return ['predicate', 'stages', 'group', 'focus', 'index'].some((field) => Object.hasOwn(step, field));
}

function quoted(name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name)) return name;
  return name.includes('`') ? JSON.stringify(name) : `\`${name}\``;
}

/** Names that the expression itself gives values to: `$x := …` and the arguments of its functions. */
function namesBoundIn(tree: ExprNode): Set<string> {
  const names = new Set<string>();
  for (const node of nodesOf(tree)) {
    const type: string = node.type;
    if (type === 'bind') names.add((node.lhs as ExprNode).value);
    if (type === 'lambda') for (const argument of node.arguments ?? []) names.add(argument.value);
  }
  return names;
}

/** All nodes of a parsed expression. */
function nodesOf(tree: ExprNode): ExprNode[] {
  const seen = new Set<object>();
  const open: unknown[] = [tree];
  const nodes: ExprNode[] = [];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null || seen.has(next)) continue;
    seen.add(next);
    if (typeof (next as Partial<ExprNode>).type === 'string') nodes.push(next as ExprNode);
    open.push(...Object.values(next).filter((member) => member !== undefined));
  }
  return nodes;
}
