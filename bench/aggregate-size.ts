import { toAggregateItem } from '#adapters/aws/dynamo-aggregates.ts';
import { itemBytes } from '#local/item-size.ts';
import { writeUnits } from '#local/table-capacity.ts';
import { runAt, STAGES } from './aggregate-runs.ts';
import type { Bench } from './bench.ts';
import { toWire } from './written-items.ts';

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
