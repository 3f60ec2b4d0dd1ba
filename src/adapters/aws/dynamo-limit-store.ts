/**
 * Limits in DynamoDB: the aggregate as one item, put whole under a condition on its revision number, and a row a
 * waiting run, whose key says where it stands in line.
 */
import * as z from 'zod';
import { LIMIT_SCHEMA_VERSION, type LimitRecord, limitName, parseLimitName, type WaitingRun } from '#domain/limit.ts';
import { DamagedLimitError, NewerLimitError, packLimit, readableLimit, unpackLimit } from '#domain/limit-codec.ts';
import type { LimitStore } from '#ports/index.ts';
import { deflateText, inflateText } from './deflated-text.ts';
import type { Item, Table } from './table.ts';
import {
  behindWaitingKey,
  dueShardOf,
  limitKey,
  limitsPartition,
  parseWaitingSortKey,
  waitingPartition,
  waitingSortKey,
} from './table-keys.ts';

const limitVersion = z.object({ c: z.int().positive() });

const limitItem = z.object({
  v: z.int().nonnegative(),
  c: z.int().positive(),
  b: z.instanceof(Uint8Array),
  da: z.number().optional(),
});

const namedItem = z.object({ sk: z.string() });

const waitingItem = z.object({
  sk: z.string().regex(/^[^#]+#\d{4}#\d{16}#/),
  n: z.string(),
  v: z.int().nonnegative(),
  t: z.int().nonnegative(),
  w: z.int().nonnegative(),
  h: z.literal(true).optional(),
});

/** Makes the store of limits. */
export function createDynamoLimitStore(table: Table): LimitStore {
  return { ...limits(table), ...rows(table) };
}

function limits(table: Table): Pick<LimitStore, 'readLimit' | 'commitLimit' | 'listLimits'> {
  return {
    async readLimit(name) {
      const item = await table.get(limitKey(name));
      return item === undefined ? undefined : fromLimitItem(name, item);
    },
    async commitLimit(limit, expectedRev) {
      const isCommitted = await table.putIf(
        toLimitItem(limit),
        expectedRev === 0
          ? { expression: 'attribute_not_exists(#pk)' }
          : {
              expression: '#v = :expected AND #c <= :known',
              values: { ':expected': expectedRev, ':known': LIMIT_SCHEMA_VERSION },
            },
      );
      return isCommitted ? 'committed' : 'conflict';
    },
    async listLimits(kind, limit, after) {
      const items: LimitRecord[] = [];
      const pages = table.query({
        expression: after === undefined ? '#pk = :limits' : '#pk = :limits AND #sk > :after',
        values: { ':limits': limitsPartition(kind), ...(after !== undefined && { ':after': after }) },
        pageSize: limit + 1,
      });
      for await (const page of pages) {
        for (const item of page) {
          const { sk } = namedItem.parse(item);
          const read = readableLimit(() => fromLimitItem(limitName(kind, sk), item));
          if (!read) continue;
          const last = items.at(-1);
          if (items.length >= limit) return last ? { items, last: parseLimitName(last.name).name } : { items };
          items.push(read);
        }
      }
      return { items };
    },
  };
}

function toLimitItem(limit: LimitRecord): Item {
  const packed = packLimit(limit);
  return {
    ...limitKey(limit.name),
    v: packed.rev,
    c: packed.schemaVersion,
    b: deflateText(packed.body),
    ...(packed.dueAt !== undefined && { ds: dueShardOf(limit.name), da: packed.dueAt }),
  };
}

function fromLimitItem(name: string, item: unknown): LimitRecord {
  const version = limitVersion.safeParse(item);
  if (version.success && version.data.c > LIMIT_SCHEMA_VERSION) throw new NewerLimitError(name, version.data.c);
  const parsed = limitItem.safeParse(item);
  if (!parsed.success)
    throw new DamagedLimitError(name, 'its item lacks an attribute or has a wrong one', parsed.error);
  const { v, c, b, da } = parsed.data;
  return unpackLimit({
    name,
    rev: v,
    schemaVersion: c,
    body: inflateBody(name, b),
    ...(da !== undefined && { dueAt: da }),
  });
}

function inflateBody(name: string, body: Uint8Array): string {
  try {
    return inflateText(body);
  } catch (cause) {
    throw new DamagedLimitError(name, 'its state cannot be inflated', cause);
  }
}

function rows(table: Table): Pick<LimitStore, 'putWaiting' | 'removeWaiting' | 'listWaiting'> {
  return {
    async putWaiting(row) {
      await table.putIf(toWaitingItem(row), {
        expression: 'attribute_not_exists(#pk) OR #n <> :nonce OR #v <= :rev',
        values: { ':nonce': row.nonce, ':rev': row.rev },
      });
    },
    async removeWaiting(row) {
      await table.removeIf(
        { pk: waitingPartition(row.limit), sk: waitingSortKey(row) },
        { expression: '#n = :nonce AND #v <= :rev', values: { ':nonce': row.nonce, ':rev': row.rev } },
      );
    },
    async listWaiting(limit, count, after) {
      const found: WaitingRun[] = [];
      const pages = table.query({
        expression: after === undefined ? '#pk = :waiting' : '#pk = :waiting AND #sk > :after',
        values: { ':waiting': waitingPartition(limit), ...(after && { ':after': behindWaitingKey(after) }) },
        pageSize: count,
      });
      for await (const page of pages) {
        found.push(...page.flatMap((item) => fromWaitingItem(limit, item) ?? []));
        if (found.length >= count) break;
      }
      return found.slice(0, count);
    },
  };
}

function toWaitingItem(row: WaitingRun): Item {
  return {
    pk: waitingPartition(row.limit),
    sk: waitingSortKey(row),
    n: row.nonce,
    v: row.rev,
    t: row.taken,
    w: row.wants,
    ...(row.isByHand && { h: true }),
  };
}

/** Nothing for a row that is damaged: it must not stand in the way of those behind it. */
function fromWaitingItem(limit: string, item: unknown): WaitingRun | undefined {
  const parsed = waitingItem.safeParse(item);
  if (!parsed.success) return undefined;
  const { sk, n, v, t, w, h } = parsed.data;
  return { limit, ...parseWaitingSortKey(sk), nonce: n, rev: v, taken: t, wants: w, ...(h && { isByHand: true }) };
}
