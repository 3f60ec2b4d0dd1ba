import { Ancestry } from './definition-ancestry.ts';
import { type DefinitionGraph, idOf, nearMisses } from './definition-checks.ts';
import { type ErrorList, quoted } from './definition-errors.ts';
import { memberOf } from './definition-json.ts';
import type { PathSegment } from './definition-path.ts';
import { expressionText, isExpression, punctuationOf, referencesOf, textsIn } from './expression.ts';
import type { Json } from './json.ts';

/**
 * What the expressions of a definition may cost to parse, which grows with the square of an expression's
 * punctuation at worst: a hundred expressions of the largest kind, or a hundred thousand ordinary ones.
 */
const PARSING_BUDGET = 100_000_000;

interface Check {
  readonly nodes: readonly Json[];
  readonly graph: DefinitionGraph;
  readonly ancestry: Ancestry;
  readonly suggest: (id: string) => string | undefined;
  readonly errors: ErrorList;
  budget: number;
}

/**
 * Checks every expression of a definition: that it can be parsed, and that the nodes it reads exist and, in `when`
 * and `params`, are upstream of the node that reads them.
 */
export function checkExpressions(
  definition: Json,
  nodes: readonly Json[],
  graph: DefinitionGraph,
  errors: ErrorList,
): void {
  const ancestry = new Ancestry(graph.upstreams);
  const check: Check = {
    nodes,
    graph,
    ancestry,
    suggest: nearMisses(graph.positionOf),
    errors,
    budget: PARSING_BUDGET,
  };
  for (const [position, node] of nodes.entries()) {
    checkExpressionField(memberOf(node, 'when'), 'when', position, check);
    checkExpressionField(memberOf(node, 'branch'), 'branch', position, check);
    checkItems(node, position, check);
    checkTemplate(memberOf(memberOf(node, 'cache'), 'key'), ['nodes', position, 'cache', 'key'], position, check);
    checkTemplate(memberOf(node, 'params'), ['nodes', position, 'params'], position, check);
  }
  checkTemplate(memberOf(definition, 'output'), ['output'], undefined, check);
}

function checkExpressionField(value: Json | undefined, field: string, position: number, check: Check): void {
  if (typeof value !== 'string') return;
  checkWholeExpression(value, field, ['nodes', position, field], position, check);
}

function checkWholeExpression(
  value: string,
  field: string,
  at: readonly PathSegment[],
  position: number,
  check: Check,
): void {
  if (isExpression(value)) {
    checkExpression(expressionText(value), at, position, check);
  } else {
    const message = `${quoted(field)} must be an expression between {% and %}`;
    check.errors.add({ at, code: 'INVALID_EXPRESSION', message, value, allowed: '{% … %}' });
  }
}

/** The list of a map: a whole expression, or a literal list that may hold expressions. */
function checkItems(node: Json, position: number, check: Check): void {
  const items = memberOf(memberOf(node, 'map'), 'items');
  const at = ['nodes', position, 'map', 'items'];
  if (typeof items === 'string') checkWholeExpression(items, 'map.items', at, position, check);
  else checkTemplate(items, at, position, check);
  if (items === undefined || memberOf(node, 'branch') === undefined) return;
  const message = 'a map gives a list of outputs, by which no branch can be chosen; choose in a node below it';
  check.errors.add({ at: ['nodes', position, 'branch'], code: 'INVALID_FIELD', message });
}

function checkTemplate(
  template: Json | undefined,
  at: readonly PathSegment[],
  reader: number | undefined,
  check: Check,
): void {
  if (template === undefined) return;
  for (const { path, text } of textsIn(template)) {
    if (isExpression(text)) checkExpression(expressionText(text), [...at, ...path], reader, check);
    else if (text.startsWith('{%') || text.endsWith('%}')) refuseHalf(text, [...at, ...path], check);
  }
}

function refuseHalf(text: string, at: readonly PathSegment[], check: Check): void {
  const missing = text.startsWith('{%')
    ? 'begins with {% but does not end with %}'
    : 'ends with %} but does not begin with {%';
  const message = `the text ${missing}; an expression is the whole text`;
  check.errors.add({ at, code: 'INVALID_EXPRESSION', message, value: text, allowed: '{% … %}' });
}

/** @param reader position of the node that the expression belongs to; `undefined` for the run's output. */
function checkExpression(text: string, at: readonly PathSegment[], reader: number | undefined, check: Check): void {
  if (!isWithinBudget(text, check)) return;
  const { nodes, syntaxError } = referencesOf(text);
  if (syntaxError !== undefined) {
    const message = `the expression is not valid at character ${syntaxError.position}: ${syntaxError.message}`;
    check.errors.add({ at, code: 'INVALID_EXPRESSION', message, value: text });
  }
  if (nodes === 'all') return;
  for (const id of nodes) {
    const problem = problemWith(id, reader, check);
    if (problem !== undefined) check.errors.add({ at, code: 'INVALID_EXPRESSION', value: text, ...problem });
  }
}

function isWithinBudget(text: string, check: Check): boolean {
  check.budget -= punctuationOf(text) ** 2;
  if (check.budget >= 0) return true;
  const message = 'the expressions of this definition are too much to check; make them fewer or shorter';
  check.errors.addIfFirst({ at: [], code: 'TOO_LARGE', message });
  return false;
}

interface Problem {
  readonly message: string;
  readonly allowed: string;
  readonly suggestion?: string;
}

function problemWith(id: string, reader: number | undefined, check: Check): Problem | undefined {
  const { graph, ancestry, nodes } = check;
  const position = graph.positionOf.get(id);
  if (position === undefined) {
    const suggestion = check.suggest(id);
    const hint = suggestion === undefined ? '' : `; did you mean ${quoted(suggestion)}?`;
    const message = `the expression reads node ${quoted(id)}, which is no node of this pipeline${hint}`;
    return { message, allowed: 'the id of a node', ...(suggestion === undefined ? {} : { suggestion }) };
  }
  // In a circle everything is upstream of everything: the circle is the error to correct.
  if (reader === undefined || graph.hasCycle || ancestry.isUpstream(position, reader)) return undefined;
  const owner = quoted(idOf(nodes[reader]) ?? '');
  const message = `the expression reads node ${quoted(id)}, which is not upstream of node ${owner}`;
  return { message, allowed: `nodes upstream of ${owner}, direct or not` };
}
