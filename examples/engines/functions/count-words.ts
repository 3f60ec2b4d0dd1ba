/** Counts the words of a text. */
export const handler = async ({ text }: { text: string }) => ({ words: text.split(/\s+/).filter(Boolean).length });
