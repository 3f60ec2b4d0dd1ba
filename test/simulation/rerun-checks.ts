/**
 * Which nodes of a run that was started again stand as they stood, worked out from what SEMANTICS says of re-runs and
 * the plan alone.
 */
import { type NodeCode, statusOf } from '#domain/node-status.ts';
import { isRunOver, type RunRecord } from '#domain/run.ts';
import { isTakenOver, type PlayedRun } from './chance.ts';
import { require } from './invariant-error.ts';
import type { PlannedAsk } from './plan-asks.ts';

type PlannedRerun = PlannedAsk & { readonly kind: 'rerun' };

/** A node of a run that was started again is taken over if, and only if, one of the requests that may have made it says so. */
export function checkTakenOver(played: PlayedRun): void {
  const { world, plan, run, nodes, indexOf } = played;
  const earlier = world.runs.everAll().find(({ id }) => id === run.trigger.runId);
  require(world, earlier !== undefined && isRunOver(earlier.state), () => `run ${run.id} is of a run that is not over`);
  if (!earlier || earlier.revision !== run.revision) return;
  const found = [...nodes.keys()].map((place) => {
    if (isTakenOver(played, place)) return 'kept';
    return run.nodes[indexOf(place)] === 'N' ? 'left' : 'open';
  });
  for (const [place, how] of found.entries()) {
    const index = indexOf(place);
    const isSame = how !== 'kept' || earlier.nodes[index] === run.nodes[index];
    require(world, isSame, () => `n${place} was ${earlier.nodes[index]}, and was taken over as ${run.nodes[index]}`);
  }
  // What a partial run left out is another matter, which the unit tests know.
  if (earlier.nodes.includes('N')) return;
  const reruns = (plan.asks ?? []).filter((ask): ask is PlannedRerun => ask.kind === 'rerun');
  const wanted = reruns.map((rerun) => wantedOf(played, earlier, rerun).join(' '));
  const told = found.join(' ');
  require(world, wanted.includes(told), () => `run ${run.id} begins with ${told}, not with ${wanted.join(' or ')}`);
}

function wantedOf({ nodes, indexOf }: PlayedRun, earlier: RunRecord, { from, marks }: PlannedRerun): string[] {
  const marked = new Set(marks.map(({ place }) => place));
  const stands = (place: number) => {
    const { standing } = statusOf(earlier.nodes[indexOf(place)] as NodeCode);
    return standing === 'success' || standing === 'skipped';
  };
  const runs = new Set<number>();
  for (let before = -1; before < runs.size; ) {
    before = runs.size;
    for (const [place, { upstreams }] of nodes.entries()) {
      const isChosen = from === 'all' || (from === 'failed' ? !stands(place) : from.includes(place));
      const isBelow = upstreams.some((up) => runs.has(up) || marked.has(up));
      const isNeeded = !stands(place) && nodes.some((node, below) => runs.has(below) && node.upstreams.includes(place));
      if (!marked.has(place) && (isChosen || isBelow || isNeeded)) runs.add(place);
    }
  }
  return [...nodes.keys()].map((place) => {
    if (runs.has(place) || marked.has(place)) return 'open';
    return stands(place) ? 'kept' : 'left';
  });
}
