/** Reads who holds the slots of a limit and who waits for them. */
import pMap from 'p-map';
import type { CompiledNode } from '#domain/graph.ts';
import { toIsoTime } from '#domain/iso-time.ts';
import { type LimitHolder, type LimitRecord, wantedSlots } from '#domain/limit.ts';
import { isUnderWay } from '#domain/run.ts';
import { limitsOfNode } from '#domain/run-limits.ts';
import { loadPipeline } from '#scheduler/pipelines.ts';
import type { ApiDeps } from './route.ts';

/** Holders whose runs are read to name their nodes. */
const NAMED_HOLDERS = 20;
const PARALLEL_READS = 10;
/** Waiting runs that are counted, and shown. */
const COUNTED_WAITING = 1000;
const SHOWN_WAITING = 20;

/** Who holds slots of a limit, and who waits for one. */
export async function readSlots(deps: ApiDeps, limit: LimitRecord) {
  const holding = limit.holders.filter(({ granted, returned }) => granted > returned);
  const all = await deps.limits.listWaiting(limit.name, COUNTED_WAITING + 1);
  // The row of a run that has what it wanted may stand for a while.
  const rows = all.filter((row) => wantedSlots(limit, row) > 0);
  return {
    holders: await pMap(holding, (holder, at) => viewHolder(deps, limit.name, holder, at < NAMED_HOLDERS), {
      concurrency: PARALLEL_READS,
    }),
    waiting: {
      count: Math.min(rows.length, COUNTED_WAITING),
      ...(all.length > COUNTED_WAITING && { hasMore: true as const }),
      first: rows
        .slice(0, SHOWN_WAITING)
        .map(({ run, pipeline, priority, since }) => ({ run, pipeline, priority, since: toIsoTime(since) })),
    },
  };
}

async function viewHolder(deps: ApiDeps, limit: string, holder: LimitHolder, isNamed: boolean) {
  const { run, pipeline, granted, returned } = holder;
  const nodes = isNamed ? await readNodes(deps, limit, holder) : [];
  return { run, pipeline, slots: granted - returned, ...(nodes.length > 0 && { nodes }) };
}

/** A run that cannot be read holds its slots all the same. */
async function readNodes(deps: ApiDeps, limit: string, holder: LimitHolder): Promise<readonly string[]> {
  try {
    const run = await deps.runs.readRun(holder.run);
    if (run?.nonce !== holder.nonce) return [];
    const pipeline = await loadPipeline(deps.pipelines, run.pipeline, run.revision);
    const nodes = run.flights
      .filter(isUnderWay)
      .map(({ node }) => pipeline?.nodes[node])
      .filter((node): node is CompiledNode => node !== undefined && limitsOfNode(node).includes(limit));
    return [...new Set(nodes.map(({ id }) => id))];
  } catch {
    return [];
  }
}
