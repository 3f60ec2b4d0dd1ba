import { benchOf } from './load.ts';
import { chain } from './pipelines.ts';

/** How fast one node follows the other. */
export const chain50 = benchOf({
  name: 'chain-50',
  title: '50 nodes in a line, one run',
  pipeline: chain(50),
  runs: 1,
  aims: new Map([
    ['hop, median, ms', '< 10'],
    ['write units per node', '≤ 2.2'],
    ['read units per node', '≤ 3'],
    ['StartExecution per node', '1'],
    ['DescribeExecution per node', '0'],
    ['scheduler invocations per node', '≤ 1.1'],
  ]),
});
