/** Reads the limits that a run waits for, so that its views can say how they stand. */
import pMap from 'p-map';
import { DEFINITION_LIMITS } from '#domain/definition.ts';
import { isOpen, type LimitRecord, wantedSlots } from '#domain/limit.ts';
import { DamagedLimitError, NewerLimitError } from '#domain/limit-codec.ts';
import type { LimitSeen, RunScope } from '#domain/run-scope.ts';
import type { ApiDeps } from './route.ts';

/** Limits that are read for one answer; what waits for others is told without their holders. */
const MAX_LIMITS_READ = 10;
/** Runs before this one that are counted. */
const COUNTED_AHEAD = 50;
const PARALLEL_READS = 5;

type LimitDeps = Pick<ApiDeps, 'limits'>;

/** The same run, with the limits of these names as far as they can be read. */
export async function withLimits(deps: LimitDeps, scope: RunScope, names: readonly string[]): Promise<RunScope> {
  if (names.length === 0) return scope;
  const read = async (name: string) => [name, await readSeen(deps, scope, name)] as const;
  const seen = await pMap(names.slice(0, MAX_LIMITS_READ), read, { concurrency: PARALLEL_READS });
  const limits = new Map(seen.flatMap(([name, limit]) => (limit ? [[name, limit] as const] : [])));
  return { ...scope, limits };
}

async function readSeen(deps: LimitDeps, scope: RunScope, name: string): Promise<LimitSeen | undefined> {
  try {
    const record = await deps.limits.readLimit(name);
    if (!record) return {};
    const ahead = await countAhead(deps, scope, record);
    return { record, ...(ahead && { ahead }) };
  } catch (error) {
    // A limit that is damaged, or written by newer code, is not to hide how the rest of the run stands.
    if (error instanceof DamagedLimitError || error instanceof NewerLimitError) return undefined;
    throw error;
  }
}

/** Counts the runs of the same pipeline that are served before this one; nothing where it has no row there. */
async function countAhead(deps: LimitDeps, { run, now }: RunScope, limit: LimitRecord): Promise<LimitSeen['ahead']> {
  const isInLine = run.limits?.some((entry) => entry.limit === limit.name && entry.waiting);
  if (!isInLine || limit.slots === undefined || !isOpen(limit, now)) return undefined;
  const first = { pipeline: run.pipeline, priority: DEFINITION_LIMITS.priority.max, since: 0, run: '' };
  const rows = await deps.limits.listWaiting(limit.name, COUNTED_AHEAD + 1, first);
  const place = rows.findIndex((row) => row.run === run.id || row.pipeline !== run.pipeline);
  if (place < 0) return rows.length > COUNTED_AHEAD ? { count: COUNTED_AHEAD, hasMore: true } : undefined;
  if (rows[place]?.run !== run.id) return undefined;
  // The row of a run that has what it wanted may stand for a while.
  return { count: rows.slice(0, place).filter((row) => wantedSlots(limit, row) > 0).length, hasMore: false };
}
