import fc from 'fast-check';

/** Mostly the usual value; otherwise one that is drawn. */
export function rarely<T, U>(arbitrary: fc.Arbitrary<T>, usual: U, weight: number): fc.Arbitrary<T | U> {
  return fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary });
}
