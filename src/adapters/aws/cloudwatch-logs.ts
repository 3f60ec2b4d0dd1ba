/** Logs of functions in CloudWatch Logs. Its client is loaded when the first log is asked for: few calls do. */
import type { FilterLogEventsCommandInput } from '@aws-sdk/client-cloudwatch-logs';
import * as z from 'zod';
import { endsLog, isLogMark, requestIdIn } from '#domain/log-mark.ts';
import type { LogPlace, LogRead, Logs } from '#ports/index.ts';
import { toServiceFailure } from './service-error.ts';

/** Pages of a search: each looks at some of a log, and may find nothing. */
const MAX_PAGES = 30;
const HTTP = { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true };

const eventsSchema = z.object({
  events: z
    .array(z.object({ logStreamName: z.string(), timestamp: z.number(), message: z.string() }))
    .optional()
    .default([]),
  nextToken: z.string().optional(),
});

type LogEvent = z.output<typeof eventsSchema>['events'][number];

/** FilterLogEvents. */
type Filter = (query: FilterLogEventsCommandInput) => Promise<unknown>;

/** Makes the logs. */
export function createCloudWatchLogs(): Logs {
  let opened: Promise<Filter> | undefined;
  const filter: Filter = async (query) => {
    opened ??= openFilter();
    return (await opened)(query);
  };
  return {
    find: (functionName, key, since) => answered(() => find(filter, functionName, key, since)),
    read: (functionName, place, limit) => answered(() => read(filter, functionName, place, limit)),
  };
}

async function answered(call: () => Promise<LogRead>): Promise<LogRead> {
  try {
    return await call();
  } catch (error) {
    const { kind, code, message } = toServiceFailure(error);
    if (kind === 'refused' && code === 'ResourceNotFoundException') return { kind: 'missing' };
    return { kind: 'unanswered', message };
  }
}

async function find(filter: Filter, functionName: string, key: string, since: number): Promise<LogRead> {
  const query = { logGroupName: groupOf(functionName), filterPattern: `"${key}"`, startTime: since };
  for await (const events of pages(filter, query)) {
    const [mark] = events;
    const requestId = mark && requestIdIn(mark.message);
    if (!mark || requestId === undefined) continue;
    const place = { stream: mark.logStreamName, requestId, at: mark.timestamp, seen: 0 };
    return { kind: 'read', lines: [], place, isOver: false };
  }
  return { kind: 'missing' };
}

async function read(filter: Filter, functionName: string, from: LogPlace, limit: number): Promise<LogRead> {
  const lines: { at: number; text: string }[] = [];
  const query = { logGroupName: groupOf(functionName), logStreamNames: [from.stream], startTime: from.at };
  let place = from;
  let skip = from.seen;
  let isBefore = from.seen === 0;
  for await (const events of pages(filter, { ...query, limit: Math.min(10_000, limit + from.seen) })) {
    for (const { timestamp, message } of events) {
      if (timestamp === from.at && skip > 0) {
        skip -= 1;
        continue;
      }
      if (isBefore) {
        // What stands in the same millisecond before the mark, and the mark itself, is nothing that the attempt wrote.
        isBefore = !isLogMark(message, from.requestId);
        place = { ...place, seen: place.seen + 1 };
        continue;
      }
      if (lines.length === limit) return { kind: 'read', lines, place, isOver: false };
      const text = message.replace(/\r?\n$/, '');
      if (endsLog(text, from.requestId)) return { kind: 'read', lines, place, isOver: true };
      lines.push({ at: timestamp, text });
      place = { ...place, at: timestamp, seen: timestamp === place.at ? place.seen + 1 : 1 };
    }
  }
  return { kind: 'read', lines, place, isOver: false };
}

function groupOf(functionName: string): string {
  return `/aws/lambda/${functionName}`;
}

async function* pages(filter: Filter, query: FilterLogEventsCommandInput): AsyncGenerator<readonly LogEvent[]> {
  let nextToken: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const found = eventsSchema.parse(await filter({ ...query, ...(nextToken && { nextToken }) }));
    yield found.events;
    nextToken = found.nextToken;
    if (nextToken === undefined) return;
  }
}

async function openFilter(): Promise<Filter> {
  const { CloudWatchLogsClient, FilterLogEventsCommand } = await import('@aws-sdk/client-cloudwatch-logs');
  const client = new CloudWatchLogsClient({ maxAttempts: 3, requestHandler: HTTP });
  return (query) => client.send(new FilterLogEventsCommand(query));
}
