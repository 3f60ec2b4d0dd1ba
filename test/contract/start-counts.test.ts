import { describe, expect, it } from 'vitest';
import { createDynamoStartCounts } from '#adapters/aws/dynamo-start-counts.ts';
import { createTable } from '#adapters/aws/table.ts';
import { createMemoryStartCounts } from '#adapters/memory/memory-start-counts.ts';
import type { StartCounts } from '#ports/index.ts';
import { startDynalite } from './tables.ts';

const MINUTE = 30_000_000;
const runId = (first: string) => first.repeat(26);

function contract(open: () => Promise<{ counts: StartCounts; close: () => Promise<void> }>) {
  it('has room for so many runs of a pipeline in a minute, and for each once', async () => {
    const { counts, close } = await open();
    const take = (first: string, most = 2) => counts.count('etl', MINUTE, runId(first), most);
    expect([await take('a'), await take('a'), await take('b'), await take('c')]).toEqual([true, true, true, false]);
    expect([await take('a'), await take('b'), await take('c')]).toEqual([true, true, false]);
    expect(await take('c', 3)).toBe(true);
    await close();
  });

  it('counts each pipeline and each minute for itself', async () => {
    const { counts, close } = await open();
    const places: [string, number][] = [
      ['etl', MINUTE],
      ['etl', MINUTE + 1],
      ['two', MINUTE],
    ];
    for (const [pipeline, minute] of places) {
      expect(await counts.count(pipeline, minute, runId('a'), 1)).toBe(true);
      expect(await counts.count(pipeline, minute, runId('b'), 1)).toBe(false);
    }
    await close();
  });

  it('never gives a place to two when many ask at once', async () => {
    const { counts, close } = await open();
    const asked = Array.from({ length: 20 }, (_, at) =>
      counts.count('etl', MINUTE, runId(String.fromCharCode(97 + at)), 7),
    );
    expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(7);
    await close();
  });
}

describe('the counts of starts in memory', () =>
  contract(async () => ({ counts: createMemoryStartCounts(), close: async () => {} })));

describe('the counts of starts on dynalite', () => {
  contract(async () => {
    const server = await startDynalite();
    const table = createTable(server.client, await server.createTable());
    return { counts: createDynamoStartCounts(table), close: () => server.close() };
  });
});
