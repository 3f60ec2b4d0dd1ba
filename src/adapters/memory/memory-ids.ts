import type { Ids } from '#ports/index.ts';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** Ids that count up, so that a test or a simulated schedule gives the same ones every time. */
export function createCountingIds(): Ids {
  let count = 0;
  const text = (length: number) => {
    count += 1;
    let left = count;
    let letters = '';
    for (let at = 0; at < length; at++) {
      letters = ALPHABET[left % 32] + letters;
      left = Math.floor(left / 32);
    }
    return letters;
  };
  return { runId: () => text(26), nonce: () => text(8), secret: () => text(22) };
}
