/** Tells which deployment it is of; the second one has another text here. */
const VERSION = 'first';

export async function handler() {
  return { version: VERSION };
}
