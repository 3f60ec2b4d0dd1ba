import { toIsoTime } from '#domain/iso-time.ts';
import type { RunHeader } from '#ports/index.ts';

/** A line of a list of runs. */
export function toRunLine(header: RunHeader) {
  const { rev: _inNoList, retainDays: _notShown, createdAt, startedAt, endedAt, tags, ...rest } = header;
  return {
    ...rest,
    createdAt: toIsoTime(createdAt),
    ...(startedAt !== undefined && { startedAt: toIsoTime(startedAt) }),
    ...(endedAt !== undefined && { endedAt: toIsoTime(endedAt) }),
    tags: Object.fromEntries(tags),
  };
}
