import { defineFunction } from 'millrace/function';

/** Gives a list, and writes lines that the calls for logs find. */
export const handler = defineFunction(async () => {
  for (const line of ['one', 'two', 'three']) console.log(line);
  return [1, 2, 3];
});
