/** Runs whose nodes take hours: what following them costs a minute, since each is due for a look now and then. */
import type { Evaluator } from '#ports/index.ts';
import { putPipeline } from '#scheduler/put-pipeline.ts';
import { startRun } from '#scheduler/start-run.ts';
import type { Bench, Figure } from './bench.ts';
import { growth } from './growth.ts';
import { QuietWorld } from './quiet-world.ts';

const SIZES = [100, 1_000, 3_000] as const;
const HOUR_MS = 3_600_000;
const SETTLING_MS = HOUR_MS / 2;

/** Looks come to be a quarter of an hour apart, and most are made together. */
export const longNodes: Bench = {
  name: 'long-nodes',
  title: 'runs of one node of five hours, in the hour after the first half, over the memory adapters',
  async run(say) {
    const figures: Figure[] = [];
    const passes: (readonly [number, number])[] = [];
    for (const runs of SIZES) {
      say(`${runs} runs`);
      const perRun = await measure(runs);
      passes.push([runs, (perRun.get('passes') as number) * runs]);
      for (const [what, value] of perRun) {
        figures.push({ what: `${runs} runs: ${what} a run and hour`, values: [value], decimals: 2 });
      }
    }
    return [...figures, growth('passes', passes)];
  },
};

async function measure(runs: number): Promise<ReadonlyMap<string, number>> {
  const world = new QuietWorld({
    definition: { name: 'unused', nodes: [] },
    evaluator: NO_EVALUATOR,
    executionMs: [5 * HOUR_MS, 5 * HOUR_MS],
  });
  const definition = { name: 'long', nodes: [{ id: 'train', params: { function: 'train', payload: {} } }] };
  await putPipeline(world.deps, { definition, revision: 'r' });
  for (let at = 0; at < runs; at++) await startRun(world.deps, { pipeline: 'long', trigger: { type: 'api' } });
  await world.playFor(SETTLING_MS);
  const before = callsOf(world);
  await world.playFor(HOUR_MS);
  const after = callsOf(world);
  const perRun = (call: string) => ((after.get(call) ?? 0) - (before.get(call) ?? 0)) / runs;
  return new Map([
    ['passes', perRun('runs.readRun')],
    ['commits', perRun('runs.commitRun')],
    ['DescribeExecution', perRun('executions.describe')],
    ['ListExecutions', perRun('executions.listRunning')],
  ]);
}

function callsOf(world: QuietWorld): ReadonlyMap<string, number> {
  return new Map([...world.counts].map(([call, { calls }]) => [call, calls]));
}

const NO_EVALUATOR: Evaluator = {
  evaluate: async () => {
    throw new Error('there is no expression in these pipelines');
  },
};
