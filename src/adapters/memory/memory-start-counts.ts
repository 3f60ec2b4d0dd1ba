import type { StartCounts } from '#ports/index.ts';

/** Counts of starts in memory, the twin of the DynamoDB ones. */
export function createMemoryStartCounts(): StartCounts {
  const minutes = new Map<string, Set<string>>();
  return {
    async count(pipeline, minute, runId, most) {
      const key = `${minute} ${pipeline}`;
      const counted = minutes.get(key) ?? new Set<string>();
      minutes.set(key, counted);
      if (!counted.has(runId) && counted.size >= most) return false;
      counted.add(runId);
      return true;
    },
  };
}
