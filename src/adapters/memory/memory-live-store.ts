import type { LiveStore, LiveTicket, LiveTopic } from '#ports/live.ts';

/** Who looks at what in memory, the exact twin of that in DynamoDB. */
export function createMemoryLiveStore(): LiveStore {
  const tickets = new Map<string, LiveTicket>();
  const byConnection = new Map<string, Map<LiveTopic, number>>();
  return {
    async putTicket(digest, ticket) {
      tickets.set(digest, { ...ticket });
    },
    async takeTicket(digest, now) {
      const ticket = tickets.get(digest);
      tickets.delete(digest);
      return ticket && ticket.until > now ? ticket : undefined;
    },
    async subscribe(connection, topic, until) {
      const topics = byConnection.get(connection) ?? new Map<LiveTopic, number>();
      byConnection.set(connection, topics.set(topic, until));
    },
    async unsubscribe(connection, topic) {
      byConnection.get(connection)?.delete(topic);
    },
    topicsOf: async (connection) => [...(byConnection.get(connection)?.keys() ?? [])].sort(),
    async subscribersOf(topic, now) {
      const open = [...byConnection].filter(([, topics]) => (topics.get(topic) ?? 0) > now);
      return open.map(([connection]) => connection).sort();
    },
    isAnybodyThere: async (now) =>
      [...byConnection.values()].some((topics) => [...topics.values()].some((until) => until > now)),
  };
}
