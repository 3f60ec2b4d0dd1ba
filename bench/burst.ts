import { benchOf } from './load.ts';
import { chain } from './pipelines.ts';

/** How many nodes many runs get through together. */
export const burst = benchOf({
  name: 'burst',
  title: '20 runs of 10 nodes in a line, started at once',
  pipeline: chain(10),
  runs: 20,
  aims: new Map([
    ['StartExecution per node', '1'],
    ['DescribeExecution per node', '0'],
    ['scheduler invocations per node', '≤ 1.1'],
  ]),
});
