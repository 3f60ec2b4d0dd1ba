import * as z from 'zod';
import type { PipelineDefinition } from '#domain/definition.ts';
import { pipelineResourceSchema } from '#http/pipeline-schemas.ts';

/** As far as it is worth a look that it is one: the server has checked it when it was put. */
const definition = z.looseObject({ nodes: z.array(z.looseObject({ id: z.string() })) });

/** A pipeline with its definition. */
export const pipelineSchema = pipelineResourceSchema.extend({
  definition: definition as unknown as z.ZodType<PipelineDefinition>,
});
