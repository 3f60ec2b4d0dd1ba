/** How long the worlds of a plan may take at most. */
import type { Plan, PlannedNode, PlannedPipeline } from './plan.ts';
import { attemptOf } from './plan-scenario.ts';

/** Ticks after which every plan must have come to its end, whatever went wrong. */
export function mostTicks(plan: Plan): number {
  const { tickMs, engineGone, outage, pauses = [], lateEngineAtMs } = plan;
  const isWaitedFor = plan.engineAtMs > 0 || engineGone !== undefined;
  let ms = plan.engineAtMs + (isWaitedFor ? 16 * 60_000 : 0) + (engineGone?.toMs ?? 0) + (plan.stopAtMs ?? 0) + 300_000;
  if (lateEngineAtMs !== undefined) ms += lateEngineAtMs + 16 * 60_000;
  ms += Math.max(0, ...(plan.runsAtMs ?? []), ...(plan.stops ?? []).map(({ atMs }) => atMs));
  for (const { toMs } of pauses) ms += toMs;
  for (const [, fault] of plan.faults) ms += fault.kind === 'freeze' ? fault.forMs + 200_000 : 200_000;
  ms += outage ? 2 * (outage.toMs - outage.fromMs) + 15 * 60_000 : 0;
  for (const { changes } of plan.limits ?? []) ms += Math.max(...changes.map(({ atMs }) => atMs)) + 60_000;
  for (const ask of plan.asks ?? []) ms += ask.kind === 'lend' ? ask.forMs + 16 * 60_000 : 0;
  ms += Math.max(0, ...(plan.asks ?? []).map(({ atMs }) => atMs));
  // What is deleted stays until nobody can make it again.
  if (plan.asks?.some(({ kind }) => kind === 'delete')) ms += 70_000;
  const reruns = (plan.asks ?? []).filter(({ kind }) => kind === 'rerun').length;
  ms += Math.max(0, ...(plan.orders ?? []).map(({ atMs }) => atMs), ...(plan.requests ?? []).map(({ atMs }) => atMs));
  const endsMs = Math.max(0, ...(plan.revisions ?? []).map(({ atMs }) => atMs));
  ms += endsMs;
  const entries = Math.max(0, ...(plan.revisions ?? []).map(({ to }) => to.schedule?.length ?? 0));
  const byThemselves = Math.ceil(endsMs / 60_000 + 1) * entries + (plan.requests?.length ?? 0);
  const backfilled = (plan.backfills ?? []).map((one) => Math.ceil((one.toMs - one.fromMs) / 60_000 + 1) * entries);
  const asked = reruns + backfilled.reduce((sum, count) => sum + count, 0);
  const runs = 1 + (plan.runsAtMs?.length ?? 0) + asked + byThemselves;
  return Math.ceil(ms / tickMs) + runs * ticksOf(plan, undefined) + 20;
}

/** Ticks that a run of the pipeline, or of the child at a place, takes: the longest of its revisions. */
function ticksOf(plan: Plan, child: number | undefined): number {
  const first = child === undefined ? plan : plan.children?.[child];
  const later = (plan.revisions ?? []).filter((revision) => revision.child === child).map(({ to }) => to);
  const all = (first ? [first, ...later] : later).map((pipeline) => ticksOfPipeline(plan, pipeline));
  return Math.max(0, ...all);
}

function ticksOfPipeline(plan: Plan, { nodes }: PlannedPipeline): number {
  // What is granted, and what comes back, is seen a tick later each where nobody is told.
  const slack = (plan.order?.isIndexStale ? 12 : 6) * (plan.limits ? 3 : 1);
  let ms = 0;
  let ticks = 0;
  for (const node of nodes) {
    const most = node.retry?.maxAttempts ?? 1;
    ms += (node.queueTimeoutSeconds ?? 0) * 1000;
    // The end of a run that nobody told of is seen after as long again, at most.
    const below = node.child === undefined ? 0 : 2 * ticksOf(plan, node.child);
    for (const item of node.map ? node.map.items.keys() : [undefined]) {
      for (let attempt = 1; attempt <= most; attempt++) {
        ticks += slack + below;
        ms += node.child === undefined ? longestOf(node, item) : 0;
        ms += (node.retry?.intervalSeconds ?? 0) * 2 ** attempt * 1000;
      }
    }
  }
  return Math.ceil(ms / plan.tickMs) + ticks;
}

/** The longest of the attempts of a node, or of an item of it (ms). */
function longestOf(node: PlannedNode, item: number | undefined): number {
  if (node.approval) return node.timeoutSeconds * 1000;
  const attempts = (item === undefined ? node.attempts : node.map?.items[item]) ?? [];
  const each = attempts.map((_, at) => {
    const { kind, durationMs, reports } = attemptOf(node, at + 1, item);
    const { heartbeatSeconds, timeoutSeconds } = node;
    if (kind === 'HANGS' && heartbeatSeconds !== undefined) return (reports?.forMs ?? 0) + heartbeatSeconds * 2_000;
    return kind === 'HANGS' ? timeoutSeconds * 1000 : kind === 'REFUSED' ? 72_000 : durationMs;
  });
  return Math.max(0, ...each);
}
