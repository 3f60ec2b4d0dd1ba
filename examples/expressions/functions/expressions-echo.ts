/** Gives back what it is given, so that the output shows what its expressions came to. */
export async function handler(event: unknown) {
  return event;
}
