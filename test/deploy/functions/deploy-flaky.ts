import { defineFunction } from 'millrace/function';

/** Fails at its first attempt. */
export const handler = defineFunction(async (_, { attempt }) => {
  if (attempt === 1) throw Object.assign(new Error('the first attempt fails'), { name: 'Flaky' });
  return { attempt };
});
