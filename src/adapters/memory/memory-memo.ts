import type { Memo } from '#ports/index.ts';

/** The memo in memory, the exact twin of the DynamoDB one. */
export function createMemoryMemo(): Memo {
  const entries = new Map<string, { readonly output: string; readonly until: number }>();
  return {
    async read(key, now) {
      const entry = entries.get(key);
      return entry && entry.until > now ? entry.output : undefined;
    },
    async write(key, output, until) {
      entries.set(key, { output, until });
    },
  };
}
