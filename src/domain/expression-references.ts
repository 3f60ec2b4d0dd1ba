import type jsonata from 'jsonata';

/** Which values of a run an expression may read. */
export interface ExpressionReferences {
  /** True where it may read `$run.input`. */
  readonly input: boolean;
  /** Ids of the nodes that it may read by `$nodes`, or `all` where that cannot be told. */
  readonly nodes: ReadonlySet<string> | 'all';
}

/** What a walk over a parsed expression finds. */
export interface Reads {
  readonly references: ExpressionReferences;
  /** True where it names `$eval`, behind which any other expression can hide. */
  readonly usesEval: boolean;
  /** Levels of the parsed expression. */
  readonly depth: number;
}

/** jsonata's own types leave out half of what its parser makes, so a step is read field by field. */
interface Step {
  readonly type?: unknown;
  readonly value?: unknown;
  readonly steps?: unknown;
  readonly procedure?: unknown;
  readonly arguments?: unknown;
  readonly predicate?: unknown;
  readonly group?: unknown;
}

interface Walk {
  readonly open: { readonly value: unknown; readonly depth: number }[];
  /** `$nodes` and `$run` where the step after them says what they are read for. */
  readonly explained: Set<unknown>;
  readonly nodes: Set<string>;
  readonly runFields: Set<string>;
  readsAllNodes: boolean;
  readsWholeRun: boolean;
  climbs: boolean;
  usesEval: boolean;
  depth: number;
}

/** Walks a parsed expression, without recursion, and collects what it reads. */
export function readsOf(expression: jsonata.ExprNode): Reads {
  const walk: Walk = {
    open: [{ value: expression, depth: 1 }],
    explained: new Set(),
    nodes: new Set(),
    runFields: new Set(),
    readsAllNodes: false,
    readsWholeRun: false,
    climbs: false,
    usesEval: false,
    depth: 0,
  };
  const seen = new Set<unknown>();
  for (let next = walk.open.pop(); next !== undefined; next = walk.open.pop()) {
    const { value, depth } = next;
    if (typeof value !== 'object' || value === null || seen.has(value)) continue;
    seen.add(value);
    walk.depth = Math.max(walk.depth, depth);
    if (!Array.isArray(value)) visit(value as Step, walk);
    for (const child of Object.values(value))
      walk.open.push({ value: child, depth: Array.isArray(value) ? depth : depth + 1 });
  }
  return { references: toReferences(walk), usesEval: walk.usesEval, depth: walk.depth };
}

function toReferences(walk: Walk): ExpressionReferences {
  // `%` steps back to where a path came from: from `$nodes.a` to all of `$nodes`.
  const readsAll = walk.readsAllNodes || (walk.climbs && walk.nodes.size > 0);
  const readsRun = walk.readsWholeRun || (walk.climbs && walk.runFields.size > 0);
  return { input: readsRun || walk.runFields.has('input'), nodes: readsAll ? 'all' : walk.nodes };
}

function visit(step: Step, walk: Walk): void {
  if (step.type === 'path') visitPath(step.steps as readonly Step[], walk);
  else if (step.type === 'function') visitCall(step, walk);
  else if (step.type === 'variable') visitVariable(step, walk);
  else if (step.type === 'parent') walk.climbs = true;
}

function visitPath(steps: readonly Step[], walk: Walk): void {
  for (const [place, step] of steps.entries()) {
    const next = steps[place + 1];
    if (isBareVariable(step) && next?.type === 'name') explain(step, next.value as string, walk);
  }
}

/** `$lookup($nodes, "id")` with a literal id. */
function visitCall(call: Step, walk: Walk): void {
  const procedure = call.procedure as Step | undefined;
  const [from, key] = call.arguments as readonly Step[];
  const isLookup = procedure?.type === 'variable' && procedure.value === 'lookup';
  if (isLookup && isBareVariable(from) && key?.type === 'string') explain(from, key.value as string, walk);
}

function isBareVariable(step: Step | undefined): step is Step {
  return step?.type === 'variable' && step.predicate === undefined && step.group === undefined;
}

function explain(variable: Step, member: string, walk: Walk): void {
  walk.explained.add(variable);
  if (variable.value === 'nodes') walk.nodes.add(member);
  if (variable.value === 'run') walk.runFields.add(member);
}

function visitVariable(variable: Step, walk: Walk): void {
  if (variable.value === 'eval') walk.usesEval = true;
  if (walk.explained.has(variable)) return;
  if (variable.value === 'nodes') walk.readsAllNodes = true;
  if (variable.value === 'run') walk.readsWholeRun = true;
}
