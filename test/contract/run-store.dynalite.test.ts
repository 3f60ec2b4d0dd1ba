import { afterAll, beforeAll } from 'vitest';
import { openDynamoRunStore } from './dynamo-run-store.harness.ts';
import { describeRunList } from './run-list.contract.ts';
import { describeRunParts } from './run-parts.contract.ts';
import { describeAggregates } from './run-store.contract.ts';
import { startDynalite, type TableServer } from './tables.ts';

let server: TableServer;

beforeAll(async () => {
  server = await startDynalite();
});

afterAll(() => server.close());

const open = () => openDynamoRunStore(server);

describeAggregates('dynalite', open);
describeRunParts('dynalite', open);
describeRunList('dynalite', open);
