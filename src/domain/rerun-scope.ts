/**
 * Which nodes of a new run run, which stand as they stood in an earlier run, and which are left out.
 *
 * - What runs again takes everything below it along: each of these is decided anew.
 * - What runs needs each of its direct upstreams: one that cannot be taken over runs too.
 * - What a partial start left out stays out, unless it is named or needed.
 */
import type { CompiledNode, CompiledPipeline } from './graph.ts';
import type { NodeCode } from './node-status.ts';

/** What is to run. */
export interface RerunChoice {
  /**
   * The nodes that run in any case: those that cannot be taken over (`failed`), all of them, or these indices. Of the
   * last, what cannot be taken over and nobody needs is left out.
   */
  readonly from: 'failed' | 'all' | ReadonlySet<number>;
  /** Only these nodes and what is above them. @default all but what the earlier run left out */
  readonly only?: ReadonlySet<number>;
  /** Nodes that are decided by hand. */
  readonly marks: ReadonlySet<number>;
  /** The letter of the node in the earlier run; nothing where it has none of that id. */
  readonly letterOf: (node: number) => NodeCode | undefined;
  /** Whether what the node came to in the earlier run can be taken over. */
  readonly isReusable: (node: number) => boolean;
}

/** What becomes of a node at the beginning of the new run. */
export type Fate = 'run' | 'keep' | 'leave' | 'mark';

/** Decides what becomes of each node. */
export function decideFates(pipeline: CompiledPipeline, choice: RerunChoice): readonly Fate[] {
  const inScope = choice.only ? withAncestors(pipeline, choice.only) : scopeOfRerun(pipeline, choice);
  const runs = findRunning(pipeline, choice, inScope);
  return pipeline.nodes.map(({ index }) => {
    if (choice.marks.has(index)) return 'mark';
    if (runs[index] === 1) return 'run';
    return inScope[index] === 1 && choice.isReusable(index) ? 'keep' : 'leave';
  });
}

const LEFT_OUT: NodeCode = 'N';

function findRunning(
  pipeline: CompiledPipeline,
  { from, marks, isReusable }: RerunChoice,
  inScope: Uint8Array,
): Uint8Array {
  const runs = new Uint8Array(pipeline.nodes.length);
  const open: number[] = [];
  const enter = (node: number) => {
    if (runs[node] === 1 || inScope[node] === 0 || marks.has(node)) return;
    runs[node] = 1;
    open.push(node);
  };
  for (const { index } of pipeline.nodes) {
    if (from === 'all' || (from === 'failed' ? !isReusable(index) : from.has(index))) enter(index);
  }
  for (const marked of marks) (pipeline.nodes[marked] as CompiledNode).downstreams.forEach(enter);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { upstreams, downstreams } = pipeline.nodes[next] as CompiledNode;
    downstreams.forEach(enter);
    for (const upstream of upstreams) if (!isReusable(upstream)) enter(upstream);
  }
  return runs;
}

/** Everything but what the earlier run left out: named nodes come in, with what is below them. */
function scopeOfRerun(pipeline: CompiledPipeline, { from, marks, letterOf }: RerunChoice): Uint8Array {
  const { nodes } = pipeline;
  if (!nodes.some(({ index }) => letterOf(index) === LEFT_OUT)) return new Uint8Array(nodes.length).fill(1);
  const wanted = new Set(marks);
  const named = typeof from === 'string' ? [] : [...from].filter((node) => letterOf(node) === LEFT_OUT);
  for (const { index } of nodes) {
    const letter = letterOf(index);
    if (letter !== undefined && letter !== LEFT_OUT) wanted.add(index);
  }
  for (let next = named.pop(); next !== undefined; next = named.pop()) {
    if (wanted.has(next)) continue;
    wanted.add(next);
    named.push(...(nodes[next] as CompiledNode).downstreams);
  }
  return withAncestors(pipeline, wanted);
}

function withAncestors(pipeline: CompiledPipeline, wanted: ReadonlySet<number>): Uint8Array {
  const inside = new Uint8Array(pipeline.nodes.length);
  for (let index = inside.length - 1; index >= 0; index--) {
    const { downstreams } = pipeline.nodes[index] as CompiledNode;
    if (wanted.has(index) || downstreams.some((downstream) => inside[downstream] === 1)) inside[index] = 1;
  }
  return inside;
}
