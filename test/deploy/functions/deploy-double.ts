/** Doubles a number. */
export async function handler({ number }: { readonly number: number }) {
  return number * 2;
}
