import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDynamoReports } from '#adapters/aws/dynamo-reports.ts';
import { createDynamoRunStore } from '#adapters/aws/dynamo-run-store.ts';
import { createTable } from '#adapters/aws/table.ts';
import { createMemoryReports } from '#adapters/memory/memory-reports.ts';
import { describeReports } from './reports.contract.ts';
import { CREATED } from './sample-run.ts';
import { startDynalite, TABLE_SERVERS, type TableServer } from './tables.ts';

const CLOCK = { now: () => CREATED };

describeReports('memory', async () => ({ reports: createMemoryReports(), close: async () => {} }));

for (const [backend, start] of TABLE_SERVERS) {
  describeReports(backend, async () => {
    const server = await start();
    const reports = createDynamoReports(createTable(server.client, await server.createTable()), CLOCK);
    return { reports, close: () => server.close() };
  });
}

describe('reports in a table', () => {
  let server: TableServer;
  beforeAll(async () => {
    server = await startDynalite();
  });
  afterAll(() => server.close());

  it('go together with the other parts of their run', async () => {
    const table = createTable(server.client, await server.createTable());
    const reports = createDynamoReports(table, CLOCK);
    const [run, of] = [
      { id: 'a'.repeat(26), nonce: 'n'.repeat(8) },
      { node: 3, attempt: 1 },
    ];
    await reports.putReport(run, of, { progress: 0.5, at: CREATED });
    expect(await createDynamoRunStore(table, CLOCK).removeParts(run, 10)).toBe(true);
    expect(await reports.readReport(run, of)).toBeUndefined();
  });
});
