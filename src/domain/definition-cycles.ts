/**
 * Finds one cycle in each knot of a graph: the self-edges, and a shortest cycle through the first member of every
 * strongly connected component. Linear in nodes and edges, without recursion.
 *
 * @param upstreams positions of each node's direct upstreams.
 * @returns each cycle as positions in the direction of the edges, beginning with its member that is defined first.
 */
export function findCycles(upstreams: readonly (readonly number[])[]): number[][] {
  const selfEdges = upstreams.flatMap((list, node) => (list.includes(node) ? [[node]] : []));
  const component = components(upstreams);
  const size = new Map<number, number>();
  for (const id of component) size.set(id, (size.get(id) ?? 0) + 1);
  const done = new Set<number>();
  const cycles: number[][] = [];
  for (const [node, id] of component.entries()) {
    if (size.get(id) === 1 || done.has(id)) continue;
    done.add(id);
    cycles.push(shortestCycle(node, upstreams, component));
  }
  return [...selfEdges, ...cycles].map(fromFirst);
}

/** Tarjan's strongly connected components: gives each node the number of its component. */
function components(upstreams: readonly (readonly number[])[]): Int32Array {
  const count = upstreams.length;
  const component = new Int32Array(count).fill(-1);
  const order = new Int32Array(count).fill(-1);
  const low = new Int32Array(count);
  const nextEdge = new Int32Array(count);
  const open: number[] = [];
  let visited = 0;
  let found = 0;
  const enter = (node: number, way: number[]) => {
    order[node] = low[node] = visited++;
    open.push(node);
    way.push(node);
  };
  const close = (root: number) => {
    let member: number;
    do {
      member = open.pop() as number;
      component[member] = found;
    } while (member !== root);
    found += 1;
  };
  for (let start = 0; start < count; start += 1) {
    if (order[start] !== -1) continue;
    const way: number[] = [];
    enter(start, way);
    while (way.length > 0) {
      const node = way.at(-1) as number;
      const next = upstreams[node]?.[nextEdge[node] as number];
      nextEdge[node] = (nextEdge[node] as number) + 1;
      if (next === undefined) {
        way.pop();
        if (low[node] === order[node]) close(node);
        const below = way.at(-1);
        if (below !== undefined) low[below] = Math.min(low[below] as number, low[node] as number);
      } else if (order[next] === -1) {
        enter(next, way);
      } else if (component[next] === -1) {
        low[node] = Math.min(low[node] as number, order[next] as number);
      }
    }
  }
  return component;
}

/** Walks upstream from a node, inside its component, breadth first, until it meets the node again. */
function shortestCycle(start: number, upstreams: readonly (readonly number[])[], component: Int32Array): number[] {
  const reachedFrom = new Map<number, number>();
  const queue = [start];
  for (const node of queue) {
    for (const upstream of upstreams[node] ?? []) {
      if (upstream === start && node !== start) return wayBack(node, start, reachedFrom);
      if (upstream === node || component[upstream] !== component[start] || reachedFrom.has(upstream)) continue;
      reachedFrom.set(upstream, node);
      queue.push(upstream);
    }
  }
  throw new Error('a strongly connected component has no cycle');
}

/** From the last node of the walk down to its start: the direction in which the edges point. */
function wayBack(last: number, start: number, reachedFrom: ReadonlyMap<number, number>): number[] {
  const cycle: number[] = [];
  for (let node = last; node !== start; node = reachedFrom.get(node) as number) cycle.push(node);
  return [start, ...cycle];
}

function fromFirst(cycle: readonly number[]): number[] {
  let first = 0;
  for (const [place, node] of cycle.entries()) if (node < (cycle[first] as number)) first = place;
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}
