import { defineFunction } from 'millrace/function';

/** Tells how long a text is. */
export const handler = defineFunction(async ({ text }: { readonly text: string }) => ({ length: text.length }));
