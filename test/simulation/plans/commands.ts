/** What users of a random world ask of its runs. */
import fc from 'fast-check';
import { rarely } from './rarely.ts';

export const stops = rarely(
  fc.array(fc.record({ atMs: fc.constantFrom(0, 1_500, 5_000, 40_000, 130_000), run: fc.nat(5) }), {
    minLength: 1,
    maxLength: 2,
  }),
  undefined,
  2,
);

export const pauses = fc.array(
  fc
    .record({
      fromMs: fc.constantFrom(500, 0, 2_000, 8_000, 61_000),
      forMs: fc.constantFrom(1_000, 10, 30_000, 200_000),
      run: rarely(fc.nat(4), 0, 1),
    })
    .map(({ fromMs, forMs, run }) => ({ fromMs, toMs: fromMs + forMs, run })),
  { minLength: 1, maxLength: 2 },
);
