import { describe, expect, it } from 'vitest';
import { createDynamoReports } from '#adapters/aws/dynamo-reports.ts';
import { createDynamoRunStore } from '#adapters/aws/dynamo-run-store.ts';
import { createTable } from '#adapters/aws/table.ts';
import { createMemoryReports } from '#adapters/memory/memory-reports.ts';
import type { Reports } from '#ports/index.ts';
import { startDynalite } from './tables.ts';

const NOW = 1_800_000_000_000;
const RUN = { id: 'a'.repeat(26), nonce: 'n'.repeat(8) };
const OF = { node: 3, attempt: 1 };

function contract(open: () => Promise<{ reports: Reports; close: () => Promise<void> }>) {
  it('keeps the last report of each attempt, of each item, of each run', async () => {
    const { reports, close } = await open();
    expect(await reports.readReport(RUN, OF)).toBeUndefined();
    const places = [OF, { ...OF, attempt: 2 }, { ...OF, item: 0 }, { ...OF, item: 1 }, { ...OF, node: 4 }];
    for (const [at, place] of places.entries()) {
      expect(await reports.putReport(RUN, place, { progress: at / 10, message: `m${at}`, at: NOW })).toBe('put');
    }
    for (const [at, place] of places.entries()) {
      expect(await reports.readReport(RUN, place)).toEqual({ progress: at / 10, message: `m${at}`, at: NOW });
    }
    expect(await reports.readReport({ ...RUN, nonce: 'm'.repeat(8) }, OF)).toBeUndefined();
    await reports.putReport(RUN, OF, { progress: 1, at: NOW + 1 });
    expect(await reports.readReport(RUN, OF)).toEqual({ progress: 1, at: NOW + 1 });
    await close();
  });

  it('never lowers the progress and never goes back in time; a repeated put does no harm', async () => {
    const { reports, close } = await open();
    const report = { progress: 0.5, message: 'half', at: NOW };
    expect(await reports.putReport(RUN, OF, report)).toBe('put');
    expect(await reports.putReport(RUN, OF, report)).toBe('put');
    expect(await reports.putReport(RUN, OF, { progress: 0.4, at: NOW + 1_000 })).toBe('late');
    expect(await reports.putReport(RUN, OF, { progress: 0.6, at: NOW - 1 })).toBe('late');
    expect(await reports.readReport(RUN, OF)).toEqual(report);
    await close();
  });
}

describe('reports in memory', () => contract(async () => ({ reports: createMemoryReports(), close: async () => {} })));

describe('reports on dynalite', () => {
  const clock = { now: () => NOW };
  const open = async () => {
    const server = await startDynalite();
    return { table: createTable(server.client, await server.createTable()), close: () => server.close() };
  };
  contract(async () => {
    const { table, close } = await open();
    return { reports: createDynamoReports(table, clock), close };
  });

  it('go together with the other parts of their run', async () => {
    const { table, close } = await open();
    const reports = createDynamoReports(table, clock);
    await reports.putReport(RUN, OF, { progress: 0.5, at: NOW });
    expect(await createDynamoRunStore(table, clock).removeParts(RUN, 10)).toBe(true);
    expect(await reports.readReport(RUN, OF)).toBeUndefined();
    await close();
  });
});
