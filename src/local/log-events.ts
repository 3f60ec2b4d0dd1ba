import { z } from 'zod';
import { type WireAnswer, WireError, wireAnswer, wireFailure } from '#local/wire-answer.ts';

/** What functions wrote lately, as CloudWatch Logs answers it. The files beside the data have all of it. */
export type LogEvents = {
  /** Keeps a line; `stream` tells the output of one invocation from that of others. */
  add(logGroup: string, stream: string, message: string): void;
  handle(target: string, body: Buffer): Promise<WireAnswer>;
};

type LogEvent = { readonly logStreamName: string; readonly timestamp: number; readonly message: string };

/** What is kept of one group: this many lines, and characters of them. */
const MAX_LINES = 10_000;
const MAX_CHARACTERS = 4_000_000;

const filterRequest = z.object({
  logGroupName: z.string(),
  logStreamNames: z.array(z.string()).min(1).max(100).optional(),
  filterPattern: z
    .string()
    .regex(/^"[^"\\]*"$/)
    .optional(),
  startTime: z.number().default(0),
  endTime: z.number().default(Number.POSITIVE_INFINITY),
  limit: z.int().min(1).max(10_000).default(10_000),
  nextToken: z.string().regex(/^\d+$/).optional(),
});

/** Keeps the last lines of each group in memory. */
export function createLogEvents(now: () => number = Date.now): LogEvents {
  const groups = new Map<string, { events: LogEvent[]; characters: number; dropped: number }>();
  return {
    add(logGroup, logStreamName, message) {
      const group = groups.get(logGroup) ?? { events: [], characters: 0, dropped: 0 };
      groups.set(logGroup, group);
      group.events.push({ logStreamName, timestamp: now(), message });
      group.characters += message.length;
      while (group.events.length > MAX_LINES || group.characters > MAX_CHARACTERS) {
        group.characters -= group.events.shift()?.message.length ?? 0;
        group.dropped += 1;
      }
    },
    async handle(target, body) {
      try {
        if (target !== 'Logs_20140328.FilterLogEvents') {
          throw new WireError('UnknownOperationException', `The development host does not know ${target}`);
        }
        return wireAnswer('1.1', filter(body));
      } catch (error) {
        return wireFailure('1.1', error);
      }
    },
  };

  function filter(body: Buffer) {
    const parsed = filterRequest.safeParse(JSON.parse(body.toString()));
    if (!parsed.success) throw new WireError('InvalidParameterException', z.prettifyError(parsed.error));
    const { logGroupName, logStreamNames, filterPattern, startTime, endTime, limit, nextToken } = parsed.data;
    const { events, dropped } = groups.get(logGroupName) ?? { events: [], dropped: 0 };
    const phrase = filterPattern?.slice(1, -1) ?? '';
    const found: (LogEvent & { eventId: string })[] = [];
    for (let at = Math.max(0, Number(nextToken ?? 0) - dropped); at < events.length; at++) {
      const event = events[at] as LogEvent;
      if (event.timestamp < startTime || event.timestamp >= endTime || !event.message.includes(phrase)) continue;
      if (logStreamNames?.includes(event.logStreamName) === false) continue;
      if (found.length === limit) return { events: found, searchedLogStreams: [], nextToken: String(at + dropped) };
      found.push({ ...event, eventId: String(at + dropped) });
    }
    return { events: found, searchedLogStreams: [] };
  }
}
