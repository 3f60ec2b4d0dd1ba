/** Draws a number from 0 to `choices` - 1. */
export type Chooser = (choices: number) => number;

/** A generator of choices that a seed alone decides (mulberry32). */
export function chooser(seed: number): Chooser {
  let state = seed;
  return (choices) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * choices) | 0;
  };
}
