import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Definitions of state machines that were found valid before. */
export type ValidDefinitions = {
  has(definition: string): boolean;
  add(definition: string): void;
};

const fileName = '.valid-definitions';

/**
 * Remembers valid definitions in the cloud assembly that they are part of: compiling the validator's schema takes longer
 * than all else of a start. An assembly that cannot be written to is validated every time.
 */
export function openValidDefinitions(cdkOut: string): ValidDefinitions {
  const file = path.join(cdkOut, fileName);
  const known = new Set(readLines(file));
  return {
    has: (definition) => known.has(digestOf(definition)),
    add(definition) {
      const digest = digestOf(definition);
      if (known.has(digest)) return;
      known.add(digest);
      try {
        appendFileSync(file, `${digest}\n`);
      } catch {
        // The next host validates it again.
      }
    },
  };
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

function digestOf(definition: string): string {
  return createHash('sha256').update(definition).digest('hex');
}
