import { benchOf } from './load.ts';
import { fan } from './pipelines.ts';

/** How fast many nodes of one run go at the same time. */
export const fan200 = benchOf({
  name: 'fan-200',
  title: '1 → 200 → 1, one run',
  pipeline: fan(200),
  runs: 1,
  aims: new Map([
    ['StartExecution per node', '1'],
    ['DescribeExecution per node', '0'],
    ['scheduler invocations per node', '≤ 1.1'],
  ]),
});
