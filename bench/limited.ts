/** The loads without a limit once more, through an engine that has one: what slots cost on top. */
import { benchOf } from './load.ts';
import { chain, fan, type LoadPipeline } from './pipelines.ts';

const SLOTS = 10;
/** These take long, and differ little. */
const REPETITIONS = 3;
const AIMS = new Map([
  ['StartExecution per node', '1'],
  ['DescribeExecution per node', '0'],
]);

function limited(pipeline: LoadPipeline): LoadPipeline {
  return { ...pipeline, engine: { name: 'slow', maxConcurrent: SLOTS } };
}

/** One run, so its slot is never wanted by another. */
export const chain50Limited = benchOf({
  name: 'chain-50-limited',
  title: `chain-50 on an engine of ${SLOTS} slots`,
  pipeline: limited(chain(50)),
  runs: 1,
  repetitions: REPETITIONS,
  aims: AIMS,
});

/** One run that wants twenty times the slots there are. */
export const fan200Limited = benchOf({
  name: 'fan-200-limited',
  title: `fan-200 on an engine of ${SLOTS} slots`,
  pipeline: limited(fan(200)),
  runs: 1,
  repetitions: REPETITIONS,
  aims: AIMS,
});

/** Twice as many runs as slots, so that slots change runs. */
export const burstLimited = benchOf({
  name: 'burst-limited',
  title: `burst on an engine of ${SLOTS} slots`,
  pipeline: limited(chain(10)),
  runs: 20,
  repetitions: REPETITIONS,
  aims: AIMS,
});
