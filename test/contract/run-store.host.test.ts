import { afterAll, beforeAll } from 'vitest';
import { openDynamoRunStore } from './dynamo-run-store.harness.ts';
import { describeRunList } from './run-list.contract.ts';
import { describeRunParts } from './run-parts.contract.ts';
import { describeAggregates } from './run-store.contract.ts';
import { startHostTables, type TableServer } from './tables.ts';

let server: TableServer;

beforeAll(async () => {
  server = await startHostTables();
});

afterAll(() => server.close());

const open = () => openDynamoRunStore(server);

describeAggregates('the development host', open);
describeRunParts('the development host', open);
describeRunList('the development host', open);
