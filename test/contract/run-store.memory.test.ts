import { createMemoryDueIndex } from '#adapters/memory/memory-due-index.ts';
import { createMemoryRunStore } from '#adapters/memory/memory-run-store.ts';
import { describeRunList } from './run-list.contract.ts';
import { describeRunParts } from './run-parts.contract.ts';
import { describeAggregates, type RunStoreHarness } from './run-store.contract.ts';

async function open(): Promise<RunStoreHarness> {
  const store = createMemoryRunStore();
  const change = (id: string, fields: object) => {
    store.stored.set(id, { ...(store.stored.get(id) as NonNullable<ReturnType<typeof store.stored.get>>), ...fields });
  };
  return {
    store,
    due: createMemoryDueIndex({ run: store.stored }),
    damage: async (id) => change(id, { body: '{"p":' }),
    makeNewer: async (id) => change(id, { schemaVersion: 2, body: 'a layout of the future' }),
  };
}

describeAggregates('memory', open);
describeRunParts('memory', open);
describeRunList('memory', open);
