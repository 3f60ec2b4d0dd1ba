import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { openBenchHost, put, start, untilIdle } from './bench-host.ts';
import { chain } from './pipelines.ts';
import { childrenBytes } from './processes.ts';

/** As long as from one tick to the next, so that just one tick is in it. */
const WATCHED_MS = 60_000;
const MEBIBYTE = 1024 * 1024;

/** What a host takes up that has nothing to do. */
export const idle: Bench = {
  name: 'idle',
  title: 'one minute of a host on which nothing runs any more',
  async run(say) {
    const host = await openBenchHost();
    try {
      const pipeline = chain(10);
      await put(host, pipeline);
      await start(host, pipeline);
      await untilIdle(host);
      say('watching');
      const before = host.wireLog.snapshot();
      const used = process.cpuUsage();
      const begun = performance.now();
      await sleep(WATCHED_MS);
      const { user, system } = process.cpuUsage(used);
      const { calls } = host.wireLog.since(before);
      const dynamodb = Object.values(calls.dynamodb ?? {}).reduce((sum, times) => sum + times, 0);
      const share = (user + system) / 10 / (performance.now() - begun);
      return [
        { what: 'CPU of the host, % of a core', values: [share], decimals: 2, aim: '< 1' },
        { what: 'resident memory of the host, MiB', values: [process.memoryUsage.rss() / MEBIBYTE], decimals: 0 },
        {
          what: 'memory of the functions’ processes, MiB',
          values: [(await childrenBytes(process.pid)) / MEBIBYTE],
          decimals: 0,
        },
        { what: 'DynamoDB calls (the tick)', values: [dynamodb], decimals: 0 },
      ];
    } finally {
      await host.close();
    }
  },
};
