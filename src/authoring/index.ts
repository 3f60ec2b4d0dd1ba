/** What authors of pipelines import: `import { definePipeline } from 'millrace'`. */
export type {
  DefinitionError,
  NodeDefinition,
  PipelineDefinition,
  RetryDefinition,
  TriggerRule,
} from '#domain/definition.ts';
export { type DefinitionResult, parseDefinition } from '#domain/definition-schema.ts';
export { definePipeline, type NodeOf, type PipelineOf } from './define-pipeline.ts';
export { definitionRevision } from './definition-revision.ts';
export { errorLine, InvalidDefinitionError } from './invalid-definition-error.ts';
export { type DefinitionFormat, loadDefinition } from './load-definition.ts';
export { importWfCommons, type WfcommonsOptions } from './wfcommons.ts';
