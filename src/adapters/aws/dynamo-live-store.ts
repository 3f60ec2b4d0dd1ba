/**
 * Who looks at what live. Each subscription is two rows: one in the partition of all of them, by connection, and one in
 * that of its topic, by which events find it. The first is put first and removed last, so whoever can be found by a topic
 * is among those who are there.
 */
import * as z from 'zod';
import type { LiveStore, LiveTopic } from '#ports/live.ts';
import type { Table } from './table.ts';
import {
  LIVE_PARTITION,
  liveConnectionPrefix,
  liveSortKey,
  liveTicketKey,
  liveTopicPartition,
  parseLiveSortKey,
} from './table-keys.ts';

const rowItem = z.object({ sk: z.string(), until: z.number() });
const ticketItem = z.object({ until: z.number(), by: z.string().optional() });

/** Rows that one call looks at where one that is there is enough. */
const FEW = 25;
/** DynamoDB takes rows away some time after this; nothing relies on it. */
const ttlOf = (until: number) => Math.ceil(until / 1000);

/** Makes the store on a table. */
export function createDynamoLiveStore(table: Table): LiveStore {
  return {
    async putTicket(digest, { by, until }) {
      await table.put({ ...liveTicketKey(digest), by, until, ttl: ttlOf(until) });
    },
    async takeTicket(digest, now) {
      const key = liveTicketKey(digest);
      const stored = await table.get(key);
      if (stored === undefined || !(await table.removeIf(key, { expression: 'attribute_exists(#pk)' })))
        return undefined;
      const { by, until } = ticketItem.parse(stored);
      return until > now ? { until, ...(by !== undefined && { by }) } : undefined;
    },
    async subscribe(connection, topic, until) {
      const fields = { until, ttl: ttlOf(until) };
      await table.put({ pk: LIVE_PARTITION, sk: liveSortKey(connection, topic), ...fields });
      await table.put({ pk: liveTopicPartition(topic), sk: connection, ...fields });
    },
    async unsubscribe(connection, topic) {
      await table.removeAll([{ pk: liveTopicPartition(topic), sk: connection }]);
      await table.removeAll([{ pk: LIVE_PARTITION, sk: liveSortKey(connection, topic) }]);
    },
    async topicsOf(connection) {
      const values = { ':pk': LIVE_PARTITION, ':prefix': liveConnectionPrefix(connection) };
      const topics: LiveTopic[] = [];
      for await (const page of table.query({ expression: '#pk = :pk AND begins_with(#sk, :prefix)', values })) {
        topics.push(...page.map((item) => parseLiveSortKey(rowItem.parse(item).sk)));
      }
      return topics;
    },
    async subscribersOf(topic, now) {
      const connections: string[] = [];
      for await (const page of table.query({ expression: '#pk = :pk', values: { ':pk': liveTopicPartition(topic) } })) {
        const rows = page.map((item) => rowItem.parse(item));
        connections.push(...rows.filter(({ until }) => until > now).map(({ sk }) => sk));
      }
      return connections;
    },
    async isAnybodyThere(now) {
      const query = { expression: '#pk = :pk', values: { ':pk': LIVE_PARTITION }, pageSize: FEW };
      for await (const page of table.query(query)) {
        if (page.some((item) => rowItem.parse(item).until > now)) return true;
      }
      return false;
    },
  };
}
