import { createHash } from 'node:crypto';
import type { PipelineDefinition } from '#domain/definition.ts';
import { canonicalJson, type Json } from '#domain/json.ts';

/** Hexadecimal characters of a revision: 64 bits, enough for the revisions of one pipeline. */
const REVISION_LENGTH = 16;

/** The name of a revision: a hash of what the definition says, whatever it was written in and in which order of keys. */
export function definitionRevision(definition: PipelineDefinition): string {
  const text = canonicalJson(definition as unknown as Json);
  return createHash('sha256').update(text).digest('hex').slice(0, REVISION_LENGTH);
}
