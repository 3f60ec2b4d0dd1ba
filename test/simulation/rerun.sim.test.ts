/** Random runs started again under the same outcomes: they come to the same, and nothing that stands is executed. */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import type { CompiledPipeline } from '#domain/graph.ts';
import { type NodeCode, statusOf } from '#domain/node-status.ts';
import type { RunRecord } from '#domain/run.ts';
import type { RerunRequest } from '#scheduler/rerun-run.ts';
import { require } from './invariant-error.ts';
import { attemptOf } from './invariants.ts';
import { mostTicks } from './most-ticks.ts';
import type { Plan } from './plan.ts';
import { toFaults, toScenario } from './plan-scenario.ts';
import { PLANS } from './random-plans.ts';
import { decisionsOf } from './reason-invariants.ts';
import { World } from './world.ts';

const TELL = { seed: 1, includeErrorInReport: true };
/** When the run is asked to be started again, if it is over (ms). */
const AGAIN_MS = 20_000;

interface Played {
  readonly world: World;
  readonly pipeline: CompiledPipeline;
  readonly first: RunRecord;
  readonly again: RunRecord | undefined;
  /** Indices of the nodes that the second run started. */
  readonly begun: ReadonlySet<number>;
}

async function play(plan: Plan, from: RerunRequest['from']): Promise<Played> {
  const scenario = toScenario(plan);
  const users = [...(scenario.users ?? []), [{ atMs: AGAIN_MS, kind: 'rerun' as const, from, key: 'again' }]];
  const world = new World({ ...scenario, users }, toFaults(plan));
  await world.play(2 * mostTicks(plan) + 10);
  const { pipeline } = world;
  const first = world.runs.latest(world.run?.id ?? '');
  const again = world.runs.all().find(({ trigger }) => trigger.type === 'rerun');
  const attempts = world.trace.starts.map(({ name }) => attemptOf(name));
  const begun = new Set(attempts.filter(({ run }) => run === again?.id).map(({ node }) => node));
  return { world, pipeline, first, again, begun };
}

const standingAt = (run: RunRecord, node: number) => statusOf(run.nodes.charAt(node) as NodeCode);

/** Whether a node was bad, or stands below one that was. */
function hasReason(
  { pipeline, first }: Pick<Played, 'pipeline' | 'first'>,
  isReason: (node: number) => boolean,
): boolean[] {
  const reasons: boolean[] = [];
  for (const { index, upstreams } of pipeline.nodes) {
    const isBad = standingAt(first, index).standing === 'bad';
    reasons.push(isBad || isReason(index) || upstreams.some((upstream) => reasons[upstream]));
  }
  return reasons;
}

function checkSame({ world, pipeline, first, again }: Played): void {
  for (const { index, id } of again ? pipeline.nodes : []) {
    const [was, is] = [standingAt(first, index).state, standingAt(again as RunRecord, index)];
    if (is.reason !== 'NotSelected') require(world, was === is.state, () => `${id} was ${was}, it is ${is.state}`);
  }
}

function checkBegun(played: Played, isReason: (node: number) => boolean): void {
  const { world, pipeline, begun } = played;
  const reasons = hasReason(played, isReason);
  for (const node of begun) {
    require(world, reasons[node] === true, () => `${pipeline.nodes[node]?.id} stood, and was executed again`);
  }
}

/** Items of a map that succeeded are not executed again where nothing above the map is decided anew. */
function checkItems({ world, pipeline, first, again }: Played): void {
  const done = new Set(
    decisionsOf(world, first).flatMap(({ to, nodes, items }) =>
      to === 'S' && items ? items.map((item) => `${nodes[0]}_${item}`) : [],
    ),
  );
  const isBad = hasReason({ pipeline, first }, () => false);
  for (const { run, node, item } of world.trace.starts.map(({ name }) => attemptOf(name))) {
    if (run !== again?.id || item === undefined) continue;
    const isAnew = pipeline.nodes[node]?.upstreams.some((upstream) => isBad[upstream]) === true;
    require(world, isAnew || !done.has(`${node}_${item}`), () => `item ${item} of node ${node} was executed again`);
  }
}

describe('a random run that is started again under the same outcomes', () => {
  it('from what failed, comes to the same and executes nothing that stands', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.whole, async (plan) => {
        const played = await play(plan, 'failed');
        const { world, pipeline, first, again } = played;
        const isLeft = /[^SCKkB]/.test(first.nodes) || first.error !== undefined;
        require(world, (again !== undefined) === isLeft, () => `${first.nodes}: a run more is ${again?.nodes}`);
        if (again) require(world, again.state === first.state, () => `${first.state}, then ${again.state}`);
        checkSame(played);
        checkBegun(played, () => false);
        checkItems(played);
        require(world, !again?.nodes.includes('N'), () => `${again?.nodes} of ${pipeline.nodes.length}`);
      }),
      { ...TELL, numRuns: 400 },
    );
  });

  it('as a whole, comes to the same', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.whole, async (plan) => {
        const played = await play(plan, 'all');
        const { world, first, again } = played;
        require(world, again?.state === first.state, () => `${first.state}, then ${again?.state}`);
        checkSame(played);
      }),
      { ...TELL, numRuns: 200 },
    );
  });

  it('from any of its nodes, comes to the same there and below, and executes what is needed alone', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.whole, fc.nat(), async (plan, drawn) => {
        const chosen = `n${drawn % plan.nodes.length}`;
        const played = await play(plan, [chosen]);
        const { world, pipeline, again } = played;
        const index = pipeline.indexOf.get(chosen) as number;
        checkSame(played);
        checkBegun(played, (node) => node === index);
        require(world, again !== undefined && again.nodes[index] !== 'N', () => `${chosen} is left out`);
      }),
      { ...TELL, numRuns: 400 },
    );
  });
});
