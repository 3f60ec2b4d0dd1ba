import type { Bench, Figure } from './bench.ts';
import { openDevProcess } from './dev-process.ts';
import { fan } from './pipelines.ts';
import { childrenBytes, residentBytes } from './processes.ts';

const MEBIBYTE = 1024 * 1024;
const WIDTH = 200;
/** Runs until the aim is looked at, and the rounds after it, in which nothing may be added any more. */
const FIRST_RUNS = 50;
const ROUNDS = 10;
const RUNS_A_ROUND = 5;

/** Whether memory grows with what was run: of `millrace dev`, alone in its process. */
export const memory: Bench = {
  name: 'memory',
  title: `${FIRST_RUNS} runs of 1 → ${WIDTH} → 1, one after the other, then ${ROUNDS} rounds of ${RUNS_A_ROUND}; of \`millrace dev\` alone`,
  async run(say) {
    const host = await openDevProcess();
    try {
      const pipeline = fan(WIDTH);
      const nodes = pipeline.nodes.length;
      await host.put(pipeline);
      const begun = performance.now();
      const resident = async () => (await residentBytes(host.pid)) / MEBIBYTE;
      const atStart = await resident();
      const after = async (runs: number) => {
        for (let run = 0; run < runs; run++) await host.run(pipeline);
        return resident();
      };
      say('the first nodes');
      const early = await after(RUNS_A_ROUND);
      const first = await after(FIRST_RUNS - RUNS_A_ROUND);
      const rounds: number[] = [];
      for (let round = 1; round <= ROUNDS; round++) {
        say(`round ${round} of ${ROUNDS}`);
        rounds.push(await after(RUNS_A_ROUND));
      }
      const seconds = (performance.now() - begun) / 1000;
      const all = FIRST_RUNS + ROUNDS * RUNS_A_ROUND;
      return [
        figure('host when it is ready, MiB', [atStart]),
        figure(`host after ${RUNS_A_ROUND * nodes} nodes, MiB`, [early]),
        { ...figure(`host after ${FIRST_RUNS * nodes} nodes, MiB`, [first]), aim: '< 400' },
        figure(`host after each of ${ROUNDS} more rounds of ${RUNS_A_ROUND * nodes} nodes, MiB`, rounds),
        {
          ...figure('what a round adds, MiB (slope of the line through them)', [slope(rounds)]),
          decimals: 2,
          aim: '0',
        },
        figure('functions’ processes, MiB', [(await childrenBytes(host.pid)) / MEBIBYTE]),
        figure('nodes per second', [(all * nodes) / seconds]),
      ];
    } finally {
      await host.close();
    }
  },
};

function figure(what: string, values: readonly number[]): Figure {
  return { what, values, decimals: 0 };
}

/** By least squares, the values one apart. */
function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const up = values.reduce((sum, value, at) => sum + (at - middle) * (value - mean), 0);
  return up / values.reduce((sum, _, at) => sum + (at - middle) ** 2, 0);
}
