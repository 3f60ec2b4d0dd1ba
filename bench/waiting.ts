/** Pipelines without an engine: what their waiting costs, and how fast they go on once it is there. */

import { isRunOver } from '#domain/run.ts';
import type { Evaluator } from '#ports/index.ts';
import { putEngine } from '#scheduler/engines.ts';
import { putPipeline } from '#scheduler/put-pipeline.ts';
import { startRun } from '#scheduler/start-run.ts';
import type { Bench, Figure } from './bench.ts';
import { QuietWorld } from './quiet-world.ts';

const SIZES = [
  { pipelines: 10, runs: 100 },
  { pipelines: 100, runs: 1_000 },
  { pipelines: 1_000, runs: 10_000 },
] as const;
const MINUTES = 10;
const MACHINE = 'arn:aws:states:us-east-1:000000000000:stateMachine:millrace-gpu';

/** Nothing per minute may grow with what waits. */
export const waiting: Bench = {
  name: 'waiting',
  title: `pipelines and runs without an engine for ${MINUTES} minutes, then one engine for all, over the memory adapters`,
  async run(say) {
    const figures: Figure[] = [];
    for (const size of SIZES) figures.push(...(await measure(size, say)));
    return figures;
  },
};

async function measure(size: (typeof SIZES)[number], say: (progress: string) => void): Promise<Figure[]> {
  const what = `${size.runs} runs of ${size.pipelines} pipelines`;
  const world = new QuietWorld({ definition: { name: 'unused', nodes: [] }, evaluator: NO_EVALUATOR });
  say(`${what}: started`);
  for (let at = 0; at < size.pipelines; at++) {
    const definition = { name: `p${at}`, nodes: [{ id: 'train', engine: 'gpu', params: { size: at } }] };
    await putPipeline(world.deps, { definition, revision: 'r' });
  }
  for (let at = 0; at < size.runs; at++) {
    await startRun(world.deps, { pipeline: `p${at % size.pipelines}`, trigger: { type: 'api' } });
  }
  await world.playFor(5 * 60_000);
  const before = countsOf(world);
  const heapBefore = heapMiB();
  say(`${what}: waiting`);
  await world.playFor(MINUTES * 60_000);
  const after = countsOf(world);
  const heap = heapMiB() - heapBefore;
  const perMinute = (call: RegExp) => (sumOf(after, call) - sumOf(before, call)) / MINUTES;
  say(`${what}: the engine appears`);
  const appeared = world.time;
  const begun = performance.now();
  await putEngine(world.deps, 'gpu', { stateMachineArn: MACHINE, labels: [] });
  await world.until(async () => (await world.runs()).every(({ state }) => isRunOver(state)));
  const last = Math.max(...(await world.runs()).map(({ endedAt = 0 }) => endedAt));
  return [
    { what: `${what}: calls of stores a minute`, values: [perMinute(/^(runs|limits|pipelines)\./)], decimals: 1 },
    { what: `${what}: writes a minute`, values: [perMinute(/\.(commit|put|remove)/)], decimals: 1 },
    { what: `${what}: events a minute`, values: [perMinute(/^bus\./)], decimals: 1 },
    { what: `${what}: memory in ${MINUTES} minutes, MiB`, values: [heap], decimals: 1 },
    {
      what: `${what}: from the engine to the last end, s of the world`,
      values: [(last - appeared) / 1000],
      decimals: 1,
    },
    { what: `${what}: the same, s of this machine`, values: [(performance.now() - begun) / 1000], decimals: 1 },
  ];
}

function countsOf(world: QuietWorld): ReadonlyMap<string, number> {
  return new Map([...world.counts].map(([call, { calls }]) => [call, calls]));
}

function sumOf(counts: ReadonlyMap<string, number>, call: RegExp): number {
  return [...counts].reduce((sum, [name, count]) => (call.test(name) ? sum + count : sum), 0);
}

function heapMiB(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

const NO_EVALUATOR: Evaluator = {
  evaluate: async () => {
    throw new Error('there is no expression in these pipelines');
  },
};
