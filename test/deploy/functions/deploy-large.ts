import { defineFunction } from 'millrace/function';

/** Gives a text that is too long for Step Functions. */
export const handler = defineFunction(async ({ length }: { readonly length: number }) => ({
  text: 'x'.repeat(length),
}));
