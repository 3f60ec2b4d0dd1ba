import { randomBytes } from 'node:crypto';
import type { Ids } from '#ports/index.ts';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** Ids from the operating system's randomness. */
export function createNodeIds(): Ids {
  return {
    runId: () => randomLetters(26),
    nonce: () => randomLetters(8),
    secret: () => randomBytes(16).toString('base64url'),
  };
}

function randomLetters(length: number): string {
  return Array.from(randomBytes(length), (byte) => ALPHABET[byte % 32]).join('');
}
