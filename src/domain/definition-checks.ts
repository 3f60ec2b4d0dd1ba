import { DEFINITION_LIMITS } from './definition.ts';
import { findCycles } from './definition-cycles.ts';
import { type ErrorList, nearMiss, quoted } from './definition-errors.ts';
import { memberOf } from './definition-json.ts';
import { emptyDependency } from './definition-shape.ts';
import type { Json } from './json.ts';

/** The edges of a definition as far as they lead somewhere. Nodes are named by their position in the definition. */
export interface DefinitionGraph {
  /** Position of each id; the first one where an id is there twice. */
  readonly positionOf: ReadonlyMap<string, number>;
  /** Positions of each node's direct upstreams, in the order of `dependsOn`. */
  readonly upstreams: readonly (readonly number[])[];
  readonly hasCycle: boolean;
}

/** Comparisons of ids that the search for near misses may cost in one definition. */
const NEAR_MISS_BUDGET = 50_000;

/**
 * Checks ids, dependencies and cycles in time linear in nodes and edges. What the shape check refused already
 * (nodes that are no objects, ids that are no text) is passed over.
 */
export function checkGraph(nodes: readonly Json[], errors: ErrorList): DefinitionGraph {
  const positionOf = checkIds(nodes, errors);
  const upstreams = checkDependencies(nodes, positionOf, errors);
  const cycles = findCycles(upstreams);
  for (const cycle of cycles) reportCycle(cycle, nodes, errors);
  return { positionOf, upstreams, hasCycle: cycles.length > 0 };
}

/** The id of a node, where it has one that is text. */
export function idOf(node: Json | undefined): string | undefined {
  const id = memberOf(node, 'id');
  return typeof id === 'string' ? id : undefined;
}

function checkIds(nodes: readonly Json[], errors: ErrorList): Map<string, number> {
  const positionOf = new Map<string, number>();
  for (const [position, node] of nodes.entries()) {
    const id = idOf(node);
    if (id === undefined) continue;
    const at = ['nodes', position, 'id'];
    checkId(id, at, errors);
    const first = positionOf.get(id);
    if (first === undefined) {
      positionOf.set(id, position);
    } else {
      const message = `node id ${quoted(id)} is there twice, first at nodes[${first}]`;
      errors.add({ at, code: 'DUPLICATE_NODE_ID', message, value: id, allowed: 'an id of its own for each node' });
    }
  }
  return positionOf;
}

function checkId(id: string, at: readonly (string | number)[], errors: ErrorList): void {
  const limit = DEFINITION_LIMITS.idLength;
  const length = Array.from(id).length;
  if (length > limit) {
    const message = `node id ${quoted(id)} has ${length} characters; the limit is ${limit}`;
    errors.add({ at, code: 'ID_TOO_LONG', message, value: id, allowed: `at most ${limit} characters` });
  }
  const problem = idProblem(id);
  if (problem === undefined) return;
  const message = `node id ${quoted(id)} ${problem}`;
  errors.add({ at, code: 'INVALID_ID', message, value: id, allowed: 'text that is not blank, no control characters' });
}

function idProblem(id: string): string | undefined {
  if (id.trim() === '') return 'is blank';
  if (/\p{Cc}/u.test(id)) return 'has a control character';
  return id.isWellFormed() ? undefined : 'has half of a surrogate pair';
}

function checkDependencies(
  nodes: readonly Json[],
  positionOf: ReadonlyMap<string, number>,
  errors: ErrorList,
): number[][] {
  const suggest = nearMisses(positionOf);
  let edges = 0;
  const upstreams = nodes.map((node, position) => {
    const dependsOn = memberOf(node, 'dependsOn');
    if (!Array.isArray(dependsOn)) return [];
    edges += dependsOn.length;
    const found = checkNodeDependencies(
      { position, owner: ownerOf(node, position), positionOf, suggest },
      dependsOn,
      errors,
    );
    // A second node of the same id would tie knots into the graph that its author never meant.
    return positionOf.get(idOf(node) ?? '') === position ? found : [];
  });
  if (edges > DEFINITION_LIMITS.edges) {
    const allowed = `at most ${DEFINITION_LIMITS.edges} edges`;
    const message = `the pipeline has ${edges} edges`;
    errors.add({ at: ['nodes'], code: 'TOO_MANY_EDGES', message, value: edges, allowed });
  }
  return upstreams;
}

/** How messages name a node: `node "load"`, or its position where it has no id. */
export function ownerOf(node: Json | undefined, position: number): string {
  const id = idOf(node);
  return id === undefined ? `the node at position ${position}` : `node ${quoted(id)}`;
}

interface Dependent {
  readonly position: number;
  readonly owner: string;
  readonly positionOf: ReadonlyMap<string, number>;
  readonly suggest: (id: string) => string | undefined;
}

function checkNodeDependencies(node: Dependent, dependsOn: readonly Json[], errors: ErrorList): number[] {
  const firstAt = new Map<string, number>();
  const upstreams: number[] = [];
  for (const [entry, id] of dependsOn.entries()) {
    if (typeof id !== 'string') continue;
    const at = ['nodes', node.position, 'dependsOn', entry];
    const first = firstAt.get(id);
    if (id.trim() === '') {
      errors.addIfFirst({ at, ...emptyDependency(node.owner, id) });
    } else if (first !== undefined) {
      const message = `${node.owner} depends on ${quoted(id)} twice, first at dependsOn[${first}]`;
      errors.add({ at, code: 'DUPLICATE_EDGE', message, value: id, allowed: 'each upstream once' });
    } else {
      firstAt.set(id, entry);
      const upstream = node.positionOf.get(id);
      if (upstream === undefined) reportUnknown(node, id, at, errors);
      else upstreams.push(upstream);
    }
  }
  return upstreams;
}

function reportUnknown(node: Dependent, id: string, at: (string | number)[], errors: ErrorList): void {
  const suggestion = node.suggest(id);
  const hint = suggestion === undefined ? '' : `; did you mean ${quoted(suggestion)}?`;
  errors.add({
    at,
    code: 'UNKNOWN_DEPENDENCY',
    message: `${node.owner} depends on ${quoted(id)}, which is no node of this pipeline${hint}`,
    value: id,
    allowed: 'the id of a node, exactly as it is written there',
    ...(suggestion === undefined ? {} : { suggestion }),
  });
}

/** A search for near misses that gives up once it has compared too much: it helps a reader, and may never be slow. */
export function nearMisses(positionOf: ReadonlyMap<string, number>): (id: string) => string | undefined {
  let budget = NEAR_MISS_BUDGET;
  return (id) => {
    if (budget < positionOf.size) return undefined;
    budget -= positionOf.size;
    return nearMiss(id, positionOf.keys());
  };
}

const SHOWN_MEMBERS = 100;

function reportCycle(cycle: readonly number[], nodes: readonly Json[], errors: ErrorList): void {
  const ids = cycle.map((position) => idOf(nodes[position]) as string);
  const [first, last] = [cycle[0] as number, ids.at(-1) as string];
  const shown = ids.slice(0, SHOWN_MEMBERS).map(quoted);
  const rest = ids.length > SHOWN_MEMBERS ? [`… ${ids.length - SHOWN_MEMBERS} more …`] : [];
  const way = [...shown, ...rest, quoted(ids[0] as string)].join(' → ');
  const node = nodes[first] as { readonly dependsOn: readonly Json[] };
  errors.add({
    at: ['nodes', first, 'dependsOn', node.dependsOn.indexOf(last)],
    code: 'CYCLE',
    message: `nodes wait for each other in a circle: ${way}`,
    members: ids,
    allowed: 'no node below itself',
  });
}
