import type { Bench, Figure } from './bench.ts';
import { openBenchHost, put, start, untilOver } from './bench-host.ts';
import { fan } from './pipelines.ts';
import { childrenBytes } from './processes.ts';

const MEBIBYTE = 1024 * 1024;
const WIDTH = 200;
/** Runs, and after how many of them it is looked. */
const RUNS = 50;
const RUNS_A_LOOK = 10;

/** Whether memory grows with what was run. */
export const memory: Bench = {
  name: 'memory',
  title: `${RUNS} runs of 1 → ${WIDTH} → 1, one after the other`,
  async run(say) {
    const host = await openBenchHost();
    try {
      const pipeline = fan(WIDTH);
      await put(host, pipeline);
      const figures: Figure[] = [];
      const begun = performance.now();
      for (let runs = 1; runs <= RUNS; runs++) {
        await untilOver(host, await start(host, pipeline));
        if (runs % RUNS_A_LOOK > 0) continue;
        const nodes = runs * pipeline.nodes.length;
        say(`${nodes} nodes`);
        const [host_, children] = [process.memoryUsage.rss(), await childrenBytes(process.pid)];
        figures.push(
          { what: `host after ${nodes} nodes, MiB`, values: [host_ / MEBIBYTE], decimals: 0, aim: '< 400' },
          { what: `functions’ processes after ${nodes} nodes, MiB`, values: [children / MEBIBYTE], decimals: 0 },
        );
      }
      const seconds = (performance.now() - begun) / 1000;
      return [
        ...figures,
        { what: 'nodes per second', values: [(RUNS * pipeline.nodes.length) / seconds], decimals: 0 },
      ];
    } finally {
      await host.close();
    }
  },
};
