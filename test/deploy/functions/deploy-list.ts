/** Gives as many numbers as are asked for. */
export async function handler({ count }: { readonly count: number }) {
  return { numbers: Array.from({ length: count }, (_, index) => index + 1) };
}
