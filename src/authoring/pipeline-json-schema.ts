import * as z from 'zod';
import { pipelineSchema } from '#domain/definition-schema.ts';
import type { Json } from '#domain/json.ts';

/** The JSON Schema (2020-12) of a pipeline definition, for editors and for programs that write definitions. */
export function pipelineJsonSchema(): Json {
  return z.toJSONSchema(pipelineSchema, { target: 'draft-2020-12' }) as unknown as Json;
}
