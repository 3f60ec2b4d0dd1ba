import { afterAll, beforeAll } from 'vitest';
import { createMemoryDueIndex } from '#adapters/memory/memory-due-index.ts';
import { createMemoryLimitStore } from '#adapters/memory/memory-limit-store.ts';
import type { PackedLimit } from '#domain/limit-codec.ts';
import { openDynamoLimitStore } from './dynamo-limit-store.harness.ts';
import { describeLimits, type LimitStoreHarness } from './limit-store.contract.ts';
import { startDynalite, startHostTables, type TableServer } from './tables.ts';
import { describeWaitingRuns } from './waiting-runs.contract.ts';

let dynalite: TableServer;
let host: TableServer;

beforeAll(async () => {
  [dynalite, host] = await Promise.all([startDynalite(), startHostTables()]);
});

afterAll(async () => {
  await Promise.all([dynalite.close(), host.close()]);
});

async function openMemory(): Promise<LimitStoreHarness> {
  const store = createMemoryLimitStore();
  const change = (name: string, fields: object) => {
    store.stored.set(name, { ...(store.stored.get(name) as PackedLimit), ...fields });
  };
  return {
    store,
    due: createMemoryDueIndex({ limit: store.stored }),
    damage: async (name) => change(name, { body: '{"s":' }),
    makeNewer: async (name) => change(name, { schemaVersion: 2, body: 'a layout of the future' }),
  };
}

const backends = [
  ['memory', openMemory],
  ['dynalite', () => openDynamoLimitStore(dynalite)],
  ['the development host', () => openDynamoLimitStore(host)],
] as const;

for (const [backend, open] of backends) {
  describeLimits(backend, open);
  describeWaitingRuns(backend, open);
}
