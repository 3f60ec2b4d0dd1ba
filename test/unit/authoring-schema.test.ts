import { readFileSync } from 'node:fs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { z } from 'zod';
import { pipelineJsonSchema } from '#authoring/pipeline-json-schema.ts';
import type { NodeDefinition, PipelineDefinition, RetryDefinition } from '#domain/definition.ts';
import type { pipelineSchema } from '#domain/definition-schema.ts';

describe('the published JSON Schema', () => {
  it('is what the checks are made from: run `node src/authoring/write-schemas.ts` after a change', () => {
    const published = readFileSync(new URL('../../schemas/pipeline.schema.json', import.meta.url), 'utf8');
    expect(JSON.parse(published)).toEqual(pipelineJsonSchema());
  });

  it('has the fields that the type has', () => {
    type Checked = z.infer<typeof pipelineSchema>;
    expectTypeOf<keyof Checked>().toEqualTypeOf<keyof PipelineDefinition>();
    expectTypeOf<keyof Checked['nodes'][number]>().toEqualTypeOf<keyof NodeDefinition>();
    expectTypeOf<keyof NonNullable<Checked['nodes'][number]['retry']>>().toEqualTypeOf<keyof RetryDefinition>();
  });
});
