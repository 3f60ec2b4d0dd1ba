/** Writes the published JSON Schemas from the zod schemas that check definitions: `node src/authoring/write-schemas.ts`. */
import { writeFileSync } from 'node:fs';
import { pipelineJsonSchema } from './pipeline-json-schema.ts';

const target = new URL('../../schemas/pipeline.schema.json', import.meta.url);
writeFileSync(target, `${JSON.stringify(pipelineJsonSchema(), null, 2)}\n`);
