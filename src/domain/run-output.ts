/** Whether a run that was started in part has an output. */
import { expressionsIn, referencesOf } from './expression.ts';
import type { CompiledPipeline } from './graph.ts';
import { byteOf } from './node-status.ts';

const LEFT_OUT = byteOf('N');

/** Whether the pipeline's output reads a node that the run left out: such a run has none. */
export function lacksItsOutput({ output, indexOf }: CompiledPipeline, nodes: Uint8Array): boolean {
  if (output === undefined || !nodes.includes(LEFT_OUT)) return false;
  return expressionsIn(output).some(({ text }) => {
    const read = referencesOf(text).nodes;
    return read === 'all' || [...read].some((id) => nodes[indexOf.get(id) ?? -1] === LEFT_OUT);
  });
}
