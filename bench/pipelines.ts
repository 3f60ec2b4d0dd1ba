/** The DAGs that are run, every node a Lambda function that does nothing. */

/** An engine of the host's `lambda` machine under another name, with so many slots. */
export interface LimitedEngine {
  readonly name: string;
  readonly maxConcurrent: number;
}

/** A pipeline to put. */
export interface LoadPipeline {
  readonly name: string;
  readonly nodes: readonly { readonly id: string; readonly dependsOn: readonly string[] }[];
  /** The engine of all nodes. @default `lambda`, which has no limit */
  readonly engine?: LimitedEngine;
}

/** So many nodes in a line. */
export function chain(length: number): LoadPipeline {
  const nodes = Array.from({ length }, (_, at) => ({ id: `n${at}`, dependsOn: at === 0 ? [] : [`n${at - 1}`] }));
  return { name: `chain-${length}`, nodes };
}

/** One node, then so many at once, then one again. */
export function fan(width: number): LoadPipeline {
  const middle = Array.from({ length: width }, (_, at) => ({ id: `m${at}`, dependsOn: ['first'] }));
  const last = { id: 'last', dependsOn: middle.map(({ id }) => id) };
  return { name: `fan-${width}`, nodes: [{ id: 'first', dependsOn: [] }, ...middle, last] };
}

/** The definition of a pipeline, as the HTTP API takes it. */
export function toDefinition({ name, nodes, engine }: LoadPipeline): object {
  // Parameters go to a registered engine as they are, while `lambda` fills in a payload that is not there.
  const common = engine
    ? { engine: engine.name, params: { function: 'noop', payload: {} } }
    : { params: { function: 'noop' } };
  return { name, nodes: nodes.map((node) => ({ ...node, ...common })) };
}
