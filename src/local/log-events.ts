import { z } from 'zod';
import { type WireAnswer, WireError, wireAnswer, wireFailure } from '#local/wire-answer.ts';

/** What functions wrote lately, as CloudWatch Logs answers it. The files beside the data have more of it. */
export type LogEvents = {
  /** Keeps a line; `stream` tells the output of one invocation from that of others. */
  add(logGroup: string, stream: string, message: string): void;
  /** Keeps the last line of a stream. */
  end(logGroup: string, stream: string, message: string): void;
  handle(target: string, body: Buffer): Promise<WireAnswer>;
};

type LogEvent = { readonly logStreamName: string; readonly timestamp: number; readonly message: string };

/** Lines of a group, oldest first. */
type Group = { events: LogEvent[]; characters: number; dropped: number; readonly streams: Map<string, Stream> };

/** What an invocation has written so far: how much of it is in its group, and the last lines of what is not. */
type Stream = { lines: number; characters: number; readonly tail: LogEvent[]; leftOut: number };

/** What is kept of one group: this many lines, and characters of them. */
const MAX_LINES = 10_000;
const MAX_CHARACTERS = 4_000_000;
/** What is kept of the beginning of one stream, so that it neither takes all of its group nor loses the mark that finds it. */
const STREAM_LINES = 3_000;
const STREAM_CHARACTERS = 1_000_000;
/** Lines that are kept of its end, as long as they are not too long. */
const TAIL_LINES = 200;
const TAIL_LINE_CHARACTERS = 2_000;
/** Streams whose end was not said, of a group; those are the oldest ones. */
const MAX_STREAMS = 1_000;

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

/** Keeps the last lines of each group in memory, and of a long stream its beginning and its end. */
export function createLogEvents(now: () => number = Date.now): LogEvents {
  const groups = new Map<string, Group>();
  const groupOf = (name: string) => {
    const group = groups.get(name) ?? { events: [], characters: 0, dropped: 0, streams: new Map() };
    groups.set(name, group);
    return group;
  };
  return {
    add(logGroup, logStreamName, message) {
      const group = groupOf(logGroup);
      const event = { logStreamName, timestamp: now(), message };
      const stream = streamOf(group, logStreamName);
      const isFull = stream.lines >= STREAM_LINES || stream.characters + message.length > STREAM_CHARACTERS;
      if (isFull || stream.tail.length > 0) {
        keepInTail(stream, event);
        return;
      }
      stream.lines += 1;
      stream.characters += message.length;
      keep(group, event);
    },
    end(logGroup, logStreamName, message) {
      const group = groupOf(logGroup);
      for (const event of tailOf(group.streams.get(logStreamName))) keep(group, event);
      group.streams.delete(logStreamName);
      keep(group, { logStreamName, timestamp: now(), message });
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

function streamOf({ streams }: Group, name: string): Stream {
  const stream = streams.get(name) ?? { lines: 0, characters: 0, tail: [], leftOut: 0 };
  streams.set(name, stream);
  const [oldest] = streams.keys();
  if (streams.size > MAX_STREAMS && oldest !== undefined) streams.delete(oldest);
  return stream;
}

function keep(group: Group, event: LogEvent): void {
  group.events.push(event);
  group.characters += event.message.length;
  // Many at once, since each time moves all that is kept.
  if (group.events.length < MAX_LINES * 1.2 && group.characters < MAX_CHARACTERS * 1.2) return;
  let out = 0;
  while (group.events.length - out > MAX_LINES || group.characters > MAX_CHARACTERS) {
    group.characters -= group.events[out]?.message.length ?? 0;
    out += 1;
  }
  group.events.splice(0, out);
  group.dropped += out;
}

function keepInTail(stream: Stream, event: LogEvent): void {
  const { message } = event;
  const isLong = message.length > TAIL_LINE_CHARACTERS;
  stream.tail.push(isLong ? { ...event, message: `${message.slice(0, TAIL_LINE_CHARACTERS)} …` } : event);
  if (stream.tail.length <= TAIL_LINES) return;
  stream.tail.shift();
  stream.leftOut += 1;
}

function tailOf(stream: Stream | undefined): LogEvent[] {
  const [first] = stream?.tail ?? [];
  if (stream === undefined || first === undefined) return [];
  const message = `… ${stream.leftOut} lines are left out here: the development host keeps the beginning and the end of a long log …`;
  return stream.leftOut === 0 ? stream.tail : [{ ...first, message }, ...stream.tail];
}
