import { marshall } from '@aws-sdk/util-dynamodb';
import { toAggregateItem } from '#adapters/aws/dynamo-aggregates.ts';
import { itemBytes, type WireItem } from '#local/item-size.ts';
import { writeUnits } from '#local/table-capacity.ts';
import { runAt, STAGES } from './aggregate-runs.ts';
import type { Bench } from './bench.ts';

const SIZES = [10, 50, 100, 1_000, 10_000];

/** How large the item of a run is: what each of its commits writes, in steps of 1 KB. */
export const aggregateSize: Bench = {
  name: 'aggregate-size',
  title: 'the item of a run in the states that it goes through',
  async run() {
    return SIZES.flatMap((nodes) =>
      STAGES.filter(({ flights }) => flights <= nodes).map((stage) => {
        const item = toWire(toAggregateItem(runAt(nodes, stage)));
        const units = writeUnits(undefined, item);
        const what = `${nodes} nodes, ${stage.name}: bytes (${units} write ${units === 1 ? 'unit' : 'units'})`;
        return { what, values: [itemBytes(item)], decimals: 0 };
      }),
    );
  },
};

/** An item as it goes over the wire, in which binary is base64. */
function toWire(item: Record<string, unknown>): WireItem {
  const attributes = Object.entries(marshall(item, { removeUndefinedValues: true }));
  return Object.fromEntries(
    attributes.map(([name, value]): [string, WireItem[string]] => {
      if (value.B) return [name, { B: Buffer.from(value.B).toString('base64') }];
      return [name, { ...value }];
    }),
  );
}
