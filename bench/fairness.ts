/** A limited engine with ten thousand nodes of one pipeline in line, and ten of another that comes later. */

import { isRunOver, type RunRecord } from '#domain/run.ts';
import type { Evaluator } from '#ports/index.ts';
import { putEngine } from '#scheduler/engines.ts';
import { putPipeline } from '#scheduler/put-pipeline.ts';
import { startRun } from '#scheduler/start-run.ts';
import type { Bench } from './bench.ts';
import { QuietWorld } from './quiet-world.ts';

const SLOTS = 10;
const MANY = 10_000;
const FEW = 10;
const MACHINE = 'arn:aws:states:us-east-1:000000000000:stateMachine:millrace-slow';

/** Pipelines are served in turn. */
export const fairness: Bench = {
  name: 'fairness',
  title: `${MANY} nodes of one pipeline and ${FEW} of another on an engine of ${SLOTS} slots, nodes of about a second`,
  async run(say) {
    const world = new QuietWorld({ definition: { name: 'unused', nodes: [] }, evaluator: NO_EVALUATOR });
    await putEngine(world.deps, 'slow', { stateMachineArn: MACHINE, maxConcurrent: SLOTS, labels: [] });
    await start(world, 'many', MANY);
    await world.playFor(30_000);
    const small = await start(world, 'few', FEW);
    say('both in line');
    const ended = await world.untilOver(small);
    const seconds = ((ended.endedAt ?? 0) - ended.createdAt) / 1000;
    const big = (await world.runs()).find(({ pipeline }) => pipeline === 'many') as RunRecord;
    return [
      { what: `the ${FEW} nodes take, s of the world`, values: [seconds], decimals: 1, aim: '5' },
      { what: `of the ${MANY} are over by then`, values: [overOf(big)], decimals: 0 },
      { what: 'the other run is over too', values: [isRunOver(big.state) ? 1 : 0], decimals: 0 },
    ];
  },
};

async function start(world: QuietWorld, name: string, nodes: number): Promise<string> {
  const all = Array.from({ length: nodes }, (_, at) => ({ id: `n${at}`, engine: 'slow', params: { at } }));
  await putPipeline(world.deps, { definition: { name, nodes: all }, revision: 'r' });
  const started = await startRun(world.deps, { pipeline: name, trigger: { type: 'api' } });
  if (!('run' in started)) throw new Error(`the run was not started: ${started.kind}`);
  return started.run.id;
}

function overOf({ nodes }: RunRecord): number {
  return [...nodes].filter((letter) => letter === 'S').length;
}

const NO_EVALUATOR: Evaluator = {
  evaluate: async () => {
    throw new Error('there is no expression in these pipelines');
  },
};
