/** What a run would write into the table: each write of its store, made once more on a table that only measures. */
import { marshall } from '@aws-sdk/util-dynamodb';
import { createDynamoRunStore } from '#adapters/aws/dynamo-run-store.ts';
import type { Item, Table } from '#adapters/aws/table.ts';
import { itemBytes, type WireItem } from '#local/item-size.ts';
import { writeUnits } from '#local/table-capacity.ts';
import { tableOf } from '#local/table-definition.ts';
import { indexChanges } from '#local/table-indexes.ts';
import type { Clock, RunStore } from '#ports/index.ts';
import { TABLE } from '../test/contract/tables.ts';

/** What was written, of one kind of items or of all. */
export interface Written {
  items: number;
  bytes: number;
  /** Those of indexes included. */
  units: number;
  /** Those of indexes alone. */
  indexUnits: number;
  largest: number;
}

const WRITES: readonly string[] = [
  'createRun',
  'commitRun',
  'putResult',
  'putValue',
  'putHistory',
  'putHeader',
] satisfies (keyof RunStore)[];

const MEASURED = tableOf('measured', TABLE);

/** Measures the writes of a store, by the name of the call, and passes them on. */
export function measureWrites(runs: RunStore, clock: Clock, written: Map<string, Written>): RunStore {
  const items = new Map<string, WireItem>();
  return new Proxy(runs, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== 'function' || !WRITES.includes(String(property))) return value;
      const measuring = createDynamoRunStore(measuringTable(String(property), written, items), clock);
      const measure: unknown = Reflect.get(measuring, property);
      return async (...args: readonly unknown[]) => {
        await Reflect.apply(measure as () => Promise<unknown>, measuring, args);
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
}

/** A table in which every condition holds and nothing is ever found; what an item replaces counts all the same. */
function measuringTable(kind: string, written: Map<string, Written>, items: Map<string, WireItem>): Table {
  const note = (item: Item) => {
    const wire = toWire(item);
    const key = `${item.pk} ${item.sk}`;
    const before = items.get(key);
    items.set(key, wire);
    const bytes = itemBytes(wire);
    const known = written.get(kind) ?? { items: 0, bytes: 0, units: 0, indexUnits: 0, largest: 0 };
    written.set(kind, known);
    const changes = indexChanges(MEASURED, before, wire);
    const indexUnits = changes.reduce((sum, change) => sum + change.writeUnits, 0);
    known.items += 1;
    known.bytes += bytes;
    known.units += writeUnits(before, wire) + indexUnits;
    known.indexUnits += indexUnits;
    known.largest = Math.max(known.largest, bytes);
  };
  return {
    get: async () => undefined,
    put: async (item) => note(item),
    putAll: async (items) => items.forEach(note),
    async putIf(item) {
      note(item);
      return true;
    },
    async putOrGet(item) {
      note(item);
      return {};
    },
    addToSet: async () => true,
    removeIf: async () => true,
    removeAll: async () => {},
    async *query() {
      yield [];
    },
  };
}

/** An item as it goes over the wire, in which binary is base64. */
export function toWire(item: Record<string, unknown>): WireItem {
  const attributes = Object.entries(marshall(item, { removeUndefinedValues: true }));
  return Object.fromEntries(
    attributes.map(([name, value]): [string, WireItem[string]] => {
      if (value.B) return [name, { B: Buffer.from(value.B).toString('base64') }];
      return [name, { ...value }];
    }),
  );
}
