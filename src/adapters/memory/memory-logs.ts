import { endsLog, isLogMark, requestIdIn } from '#domain/log-mark.ts';
import type { Logs } from '#ports/index.ts';

/** A line of a log in memory. */
export interface MemoryLogLine {
  readonly stream: string;
  readonly at: number;
  readonly text: string;
}

/** Logs in memory, and what a test may write to them. */
export interface MemoryLogs extends Logs {
  /** Lines by function, oldest first. */
  readonly lines: Map<string, MemoryLogLine[]>;
}

/** Makes logs without a line, the twin of those in CloudWatch. */
export function createMemoryLogs(): MemoryLogs {
  const lines = new Map<string, MemoryLogLine[]>();
  return {
    lines,
    async find(functionName, key, since) {
      const mark = lines.get(functionName)?.find(({ at, text }) => at >= since && text.includes(key));
      const requestId = mark && requestIdIn(mark.text);
      if (!mark || requestId === undefined) return { kind: 'missing' };
      return {
        kind: 'read',
        lines: [],
        place: { stream: mark.stream, requestId, at: mark.at, seen: 0 },
        isOver: false,
      };
    },
    async read(functionName, from, limit) {
      const later = (lines.get(functionName) ?? []).filter(({ stream, at }) => stream === from.stream && at >= from.at);
      const mark = later.findIndex(({ text }) => isLogMark(text, from.requestId));
      const skipped = from.seen === 0 ? mark + 1 : from.seen;
      const rest = later.slice(skipped);
      const end = rest.findIndex(({ text }) => endsLog(text, from.requestId));
      const own = end === -1 ? rest : rest.slice(0, end);
      const read = own.slice(0, limit).map(({ at, text }) => ({ at, text }));
      const isOver = end !== -1 && read.length === own.length;
      const { at } = read.at(-1) ?? from;
      const seen = read.filter((line) => line.at === at).length + (at === from.at ? skipped : 0);
      return { kind: 'read', lines: read, place: { ...from, at, seen }, isOver };
    },
  };
}
