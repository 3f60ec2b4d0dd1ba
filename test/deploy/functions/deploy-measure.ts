import { defineFunction } from 'millrace/function';

/** Tells how long a text is, and says so in its log. */
export const handler = defineFunction(async ({ text }: { readonly text: string }) => {
  console.log(`measured ${text.length} characters`);
  return { length: text.length };
});
