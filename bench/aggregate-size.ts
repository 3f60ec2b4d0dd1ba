/**
 * Prints how large the aggregate of a run is, and what a commit of it costs: bytes of its state before it is
 * compressed, bytes of the item (names included), write units (1 KB each).
 */
import { marshall } from '@aws-sdk/util-dynamodb';
import { toAggregateItem } from '#adapters/aws/dynamo-aggregates.ts';
import { packRun } from '#domain/run-codec.ts';
import { itemBytes, type WireItem } from '#local/item-size.ts';
import { writeUnits } from '#local/table-capacity.ts';
import { runAt, STAGES } from './aggregate-runs.ts';

const SIZES = [10, 50, 100, 1_000, 10_000];

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

console.log('| nodes | state | state bytes | item bytes | write units |');
console.log('|---|---|---|---|---|');
for (const nodes of SIZES) {
  for (const stage of STAGES) {
    if (stage.flights > nodes) continue;
    const run = runAt(nodes, stage);
    const item = toWire(toAggregateItem(run));
    const state = Buffer.byteLength(packRun(run).body);
    console.log(`| ${nodes} | ${stage.name} | ${state} | ${itemBytes(item)} | ${writeUnits(undefined, item)} |`);
  }
}
