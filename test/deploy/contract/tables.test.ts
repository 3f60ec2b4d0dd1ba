/** The stores on MiniStack's DynamoDB. */
import { afterAll, beforeAll, describe } from 'vitest';
import { createDynamoLiveStore } from '#adapters/aws/dynamo-live-store.ts';
import { createDynamoMemo } from '#adapters/aws/dynamo-memo.ts';
import { createDynamoReports } from '#adapters/aws/dynamo-reports.ts';
import { createDynamoStartCounts } from '#adapters/aws/dynamo-start-counts.ts';
import { createTable } from '#adapters/aws/table.ts';
import { describeDueIndex } from '../../contract/due-index.contract.ts';
import { openDynamoDueIndex } from '../../contract/dynamo-due-index.harness.ts';
import { openDynamoLimitStore } from '../../contract/dynamo-limit-store.harness.ts';
import { openDynamoPipelineStore } from '../../contract/dynamo-pipeline-store.harness.ts';
import { openDynamoRunStore } from '../../contract/dynamo-run-store.harness.ts';
import { describeLimits } from '../../contract/limit-store.contract.ts';
import { describeLiveStore } from '../../contract/live-store.contract.ts';
import { describeMemo } from '../../contract/memo.contract.ts';
import { describePipelineStore } from '../../contract/pipeline-store.contract.ts';
import { describeReports } from '../../contract/reports.contract.ts';
import { describeRunList } from '../../contract/run-list.contract.ts';
import { describeRunParts } from '../../contract/run-parts.contract.ts';
import { describeAggregates } from '../../contract/run-store.contract.ts';
import { CREATED } from '../../contract/sample-run.ts';
import { describeStartCounts } from '../../contract/start-counts.contract.ts';
import type { TableServer } from '../../contract/tables.ts';
import { describeWaitingRuns } from '../../contract/waiting-runs.contract.ts';
import { openEmulatedTables } from './emulated-tables.ts';
import { useEmulator } from './emulator.ts';

const BACKEND = 'MiniStack';
const close = async () => {};

useEmulator();

describe('stores', () => {
  let server: TableServer;
  beforeAll(() => {
    server = openEmulatedTables();
  });
  afterAll(() => server.close());
  const openTable = async () => createTable(server.client, await server.createTable());

  describeAggregates(BACKEND, () => openDynamoRunStore(server));
  describeRunParts(BACKEND, () => openDynamoRunStore(server));
  describeRunList(BACKEND, () => openDynamoRunStore(server));
  describeLimits(BACKEND, () => openDynamoLimitStore(server));
  describeWaitingRuns(BACKEND, () => openDynamoLimitStore(server));
  describePipelineStore(BACKEND, () => openDynamoPipelineStore(server));
  describeDueIndex(BACKEND, () => openDynamoDueIndex(server));
  describeMemo(BACKEND, async () => ({ memo: createDynamoMemo(await openTable()), close }));
  describeStartCounts(BACKEND, async () => ({ counts: createDynamoStartCounts(await openTable()), close }));
  describeLiveStore(BACKEND, async () => ({ store: createDynamoLiveStore(await openTable()), close }));
  describeReports(BACKEND, async () => ({
    reports: createDynamoReports(await openTable(), { now: () => CREATED }),
    close,
  }));
});
