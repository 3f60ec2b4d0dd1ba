/** Tells the world about a run: its line in the list of runs, and `RunChanged` on the bus. At least once. */
import type { CompiledNode, CompiledPipeline } from '#domain/graph.ts';
import type { Json } from '#domain/json.ts';
import { statusOf } from '#domain/node-status.ts';
import { isRunOver, type RunRecord } from '#domain/run.ts';
import { saysNodes } from '#domain/watch.ts';
import type { RunHeader } from '#ports/index.ts';
import type { PassDeps } from './deps.ts';
import { ringParent } from './parent-run.ts';

/** Nodes named in one event; more of them and the event says `truncated`. */
const MAX_NODES_TOLD = 200;

/** The line of a run in the list of runs. */
export function toHeader(run: RunRecord): RunHeader {
  const { id, pipeline, revision, rev, state, createdAt, startedAt, endedAt, trigger, tags, retainDays } = run;
  return {
    id,
    pipeline,
    revision,
    rev,
    state,
    createdAt,
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    trigger,
    tags,
    ...(retainDays !== undefined && { retainDays }),
  };
}

/** Writes the header, rings the parent or the backfill that waits for the run, and publishes what happened since the last announcement. */
export async function announce(deps: PassDeps, pipeline: CompiledPipeline, run: RunRecord): Promise<void> {
  if (run.announced.state !== run.state && !run.deleted) await deps.runs.putHeader(toHeader(run));
  await ringParent(deps, run);
  if (run.trigger.backfill !== undefined && isRunOver(run.state)) {
    await deps.inbox.ringThing({ kind: 'pipeline', id: run.pipeline });
  }
  await deps.bus.publish([{ source: 'millrace.scheduler', detailType: 'RunChanged', detail: toDetail(pipeline, run) }]);
}

function toDetail(pipeline: CompiledPipeline, run: RunRecord): Json {
  return {
    schemaVersion: 1,
    hops: (run.depth ?? 0) + 1,
    runId: run.id,
    pipeline: run.pipeline,
    revision: run.revision,
    sinceRev: run.announced.rev + 1,
    rev: run.rev,
    state: run.state,
    ...(run.announced.state !== run.state && { previousState: run.announced.state }),
    reason: run.reason,
    ...(saysNodes(pipeline, run) && nodesTold(pipeline, run)),
  };
}

/** A node as live updates tell of it: how it stands, and nothing that would have to be read. */
export function nodeTold(pipeline: CompiledPipeline, run: RunRecord, node: number) {
  const { state, reason: asEver } = statusOf(run.nodes.charCodeAt(node));
  const reason = state === 'QUEUED' && run.state === 'PAUSED' ? 'RunPaused' : asEver;
  return { id: (pipeline.nodes[node] as CompiledNode).id, state, reason };
}

function nodesTold(pipeline: CompiledPipeline, run: RunRecord): { [key: string]: Json } {
  const fresh = run.decisions.filter((decision) => decision.rev > run.announced.rev && decision.to !== 'run');
  // Attempts of items are none of their map.
  const attempts = new Map(
    fresh.flatMap(({ nodes, items, attempt }) => nodes.map((node) => [node, items ? 0 : attempt] as const)),
  );
  const nodes = [...attempts].slice(0, MAX_NODES_TOLD).map(([node, attempt]) => {
    return { ...nodeTold(pipeline, run, node), attempt };
  });
  const isPartial = attempts.size > nodes.length || (run.decisions[0]?.rev ?? 0) > run.announced.rev + 1;
  return { nodes, ...(isPartial && { truncated: true }) };
}
