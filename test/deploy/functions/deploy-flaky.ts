/** Fails at its first attempt. */
export async function handler({ attempt }: { readonly attempt: number }) {
  if (attempt === 1) throw new Error('the first attempt fails');
  return { attempt };
}
