/** Looks at everything that waits, as the API would show it: is there a reason, and is it true? */

import { toExecutionName } from '#domain/execution-name.ts';
import { explainNode } from '#domain/node-reason.ts';
import { type NodeCode, statusOf } from '#domain/node-status.ts';
import { tellStories } from '#domain/node-story.ts';
import type { RunRecord } from '#domain/run.ts';
import { loadPipeline } from '#scheduler/pipelines.ts';
import type { DayWorld } from './day-world.ts';

/** A start may be under way for so long (ms) before it has to be said that it waits: src/domain/node-reason.ts. */
const STARTING_MS = 10_000;

/** What was seen, over all looks. */
export interface ReasonsSeen {
  /** Nodes that were not over, by reason. */
  readonly counts: Map<string, number>;
  /** What waited without a reason, or with one that is not true, in words. */
  readonly wrong: string[];
}

/** Looks at all runs that are not over, once. */
export async function lookAtReasons(world: DayWorld, seen: ReasonsSeen): Promise<void> {
  for (const run of await world.activeRuns()) await lookAtRun(world, run, seen);
}

async function lookAtRun(world: DayWorld, run: RunRecord, seen: ReasonsSeen): Promise<void> {
  const { deps, now } = world;
  const pipeline = await loadPipeline(deps.pipelines, run.pipeline, run.revision);
  if (!pipeline) throw new Error(`there is no revision ${run.revision} of ${run.pipeline}`);
  const stories = tellStories(run, run.decisions);
  const flights = new Map(run.flights.map((flight) => [flight.node, flight]));
  const scope = { pipeline, run, now, installation: deps.installation, engines: deps.engines };
  for (const node of pipeline.nodes) {
    if (statusOf(run.nodes.charAt(node.index) as NodeCode).standing !== 'open') continue;
    const flight = flights.get(node.index);
    const story = stories[node.index];
    if (!story) continue;
    const { reason, message } = explainNode(scope, node, { story, flight });
    seen.counts.set(reason, (seen.counts.get(reason) ?? 0) + 1);
    if (!message) seen.wrong.push(`${run.id}/${node.id} waits without a word`);
    const isLate = flight !== undefined && now - flight.startedAt > STARTING_MS;
    if (!isLate || reason === 'Throttled') continue;
    const name = toExecutionName(deps.installation, { run: run.id, nonce: run.nonce, ...flight });
    if (!world.account.has(name))
      seen.wrong.push(`${run.id}/${node.id} has no execution, and is ${reason}: ${message}`);
  }
}
