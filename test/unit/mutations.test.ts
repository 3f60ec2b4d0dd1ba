import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MUTATIONS } from '../mutations/mutations.ts';

const PROJECT = join(import.meta.dirname, '../..');

describe('the text that a mutation changes', () => {
  it.each(MUTATIONS.map((mutation) => [mutation.name, mutation] as const))('is there once: %s', (_name, mutation) => {
    const text = readFileSync(join(PROJECT, mutation.file), 'utf8');
    expect(text.split(mutation.from)).toHaveLength(2);
  });
});
