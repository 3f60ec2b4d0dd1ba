/**
 * The aggregate of a run as one item: its revision number and due time as attributes, the rest deflated. The item is
 * put whole, under a condition on the revision number; the due index is written only when the due time moves.
 */
import * as z from 'zod';
import { isRunOver, RUN_SCHEMA_VERSION, type RunRecord } from '#domain/run.ts';
import { DamagedRunError, NewerRunError, packRun, unpackRun } from '#domain/run-codec.ts';
import type { Clock, RunStore } from '#ports/index.ts';
import { deflateText, inflateText } from './deflated-text.ts';
import { isExpired, runExpiry } from './retention.ts';
import type { Item, Table } from './table.ts';
import { aggregateKey, dueShardOf } from './table-keys.ts';

const aggregateVersion = z.object({ c: z.int().positive() });

const aggregateItem = z.object({
  v: z.int().nonnegative(),
  c: z.int().positive(),
  b: z.instanceof(Uint8Array),
  da: z.number().optional(),
});

const expiringItem = z.object({ ttl: z.number().optional() });

/**
 * Writes a run as its item.
 * @throws RangeError where its state is longer than what is read back
 */
export function toAggregateItem(run: RunRecord): Item {
  const packed = packRun(run);
  return {
    ...aggregateKey(run.id),
    v: packed.rev,
    c: packed.schemaVersion,
    b: deflateText(packed.body),
    ...(packed.dueAt !== undefined && { ds: dueShardOf(run.id), da: packed.dueAt }),
    ...(isRunOver(run.state) && { ttl: runExpiry(run.endedAt ?? run.since, run.retainDays) }),
  };
}

/**
 * Reads a run from its item.
 * @throws DamagedRunError where the item is not what `toAggregateItem` writes
 * @throws NewerRunError where newer code wrote it
 */
function fromAggregateItem(id: string, item: unknown): RunRecord {
  const version = aggregateVersion.safeParse(item);
  if (version.success && version.data.c > RUN_SCHEMA_VERSION) throw new NewerRunError(id, version.data.c);
  const parsed = aggregateItem.safeParse(item);
  if (!parsed.success) throw new DamagedRunError(id, 'its item lacks an attribute or has a wrong one', parsed.error);
  const { v, c, b, da } = parsed.data;
  return unpackRun({ id, rev: v, schemaVersion: c, body: inflateBody(id, b), ...(da !== undefined && { dueAt: da }) });
}

function inflateBody(id: string, body: Uint8Array): string {
  try {
    return inflateText(body);
  } catch (cause) {
    throw new DamagedRunError(id, 'its state cannot be inflated', cause);
  }
}

/** The calls of a run store that concern aggregates. */
export function createDynamoAggregates(
  table: Table,
  clock: Clock,
): Pick<RunStore, 'createRun' | 'readRun' | 'commitRun' | 'removeRun'> {
  return {
    async createRun(run) {
      const { existing } = await table.putOrGet(toAggregateItem(run), {
        expression: 'attribute_not_exists(#pk) OR #ttl <= :now',
        values: { ':now': Math.floor(clock.now() / 1000) },
      });
      if (existing === undefined) return { created: true };
      const found = fromAggregateItem(run.id, existing);
      // The nonce is random per creation: a put whose first answer was lost has found itself.
      return found.nonce === run.nonce ? { created: true } : { created: false, run: found };
    },
    async readRun(id) {
      const item = await table.get(aggregateKey(id));
      if (item === undefined || isExpired(expiringItem.safeParse(item).data?.ttl, clock.now())) return undefined;
      return fromAggregateItem(id, item);
    },
    async commitRun(run, expectedRev) {
      return (await table.putIf(toAggregateItem(run), isStill(expectedRev))) ? 'committed' : 'conflict';
    },
    async removeRun(id, expectedRev) {
      return (await table.removeIf(aggregateKey(id), isStill(expectedRev))) ? 'removed' : 'conflict';
    },
  };
}

/** A run is at the revision that was read, and newer code has not taken it over. */
function isStill(expectedRev: number) {
  return {
    expression: '#v = :expected AND #c <= :known',
    values: { ':expected': expectedRev, ':known': RUN_SCHEMA_VERSION },
  };
}
