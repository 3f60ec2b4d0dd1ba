import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { openDevProcess } from './dev-process.ts';
import { chain } from './pipelines.ts';
import { childrenBytes, processorMs, residentBytes } from './processes.ts';

/** As long as from one tick to the next, so that just one tick is in it. */
const WATCHED_MS = 60_000;
/** After which the functions that are started beforehand have been. */
const SETTLED_MS = 5_000;
const MEBIBYTE = 1024 * 1024;

/** What a host takes up that has nothing to do. */
export const idle: Bench = {
  name: 'idle',
  title: 'one minute of `millrace dev` on which nothing runs any more',
  async run(say) {
    const host = await openDevProcess();
    try {
      const pipeline = chain(10);
      await host.put(pipeline);
      await host.run(pipeline);
      await sleep(SETTLED_MS);
      say('watching');
      const used = await processorMs(host.pid);
      const begun = performance.now();
      await sleep(WATCHED_MS);
      const share = (100 * ((await processorMs(host.pid)) - used)) / (performance.now() - begun);
      return [
        { what: 'CPU of the host, % of a core', values: [share], decimals: 2, aim: '< 1' },
        { what: 'resident memory of the host, MiB', values: [(await residentBytes(host.pid)) / MEBIBYTE], decimals: 0 },
        {
          what: 'memory of the functions’ processes, MiB',
          values: [(await childrenBytes(host.pid)) / MEBIBYTE],
          decimals: 0,
        },
      ];
    } finally {
      await host.close();
    }
  },
};
