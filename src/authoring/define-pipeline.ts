import type { NodeDefinition, PipelineDefinition } from '#domain/definition.ts';
import { parseDefinition } from '#domain/definition-schema.ts';
import { InvalidDefinitionError } from './invalid-definition-error.ts';

/** A node whose upstreams are ids of nodes in the same pipeline, checked by the compiler where ids are literals. */
export type NodeOf<Id extends string> = Omit<NodeDefinition, 'id' | 'dependsOn'> & {
  readonly id: Id;
  readonly dependsOn?: readonly NoInfer<Id>[];
};

/** A pipeline as {@link definePipeline} takes it. */
export type PipelineOf<Id extends string> = Omit<PipelineDefinition, 'nodes'> & {
  readonly nodes: readonly NodeOf<Id>[];
};

/**
 * Writes a pipeline in TypeScript.
 *
 * @example
 * export default definePipeline({
 *   name: 'etl',
 *   nodes: [
 *     { id: 'extract', params: { function: 'extract-fn' } },
 *     { id: 'load', dependsOn: ['extract'], params: { function: 'load-fn' } },
 *   ],
 * });
 * @throws InvalidDefinitionError with all errors at once.
 */
export function definePipeline<const Id extends string>(pipeline: PipelineOf<Id>): PipelineDefinition {
  const result = parseDefinition(pipeline);
  if (!result.ok) throw new InvalidDefinitionError(result.errors);
  return result.definition;
}
