import type { AttemptResult, Evaluation, Facts } from '#domain/facts.ts';
import { type CompiledPipeline, compilePipeline } from '#domain/graph.ts';
import type { RunRecord } from '#domain/run.ts';
import { step } from '#domain/step.ts';
import { runAt } from './aggregate-runs.ts';
import { type Bench, type Figure, median } from './bench.ts';
import { growth, SIZES } from './growth.ts';
import { LAYER_WIDTH, layered } from './layers.ts';

const EDGES = 3;
const COMPLETIONS = 10;
/** Steps that are measured, after as many that are not. */
const STEPS = 300;

/** The pure heart of a pass on the largest DAG there may be, with neither store nor network. */
export const stepAlone: Bench = {
  name: 'step',
  title: `step() on nodes in layers of ${LAYER_WIDTH}: ${COMPLETIONS} completions, the starts that follow`,
  async run(say) {
    const sizes = SIZES.map((nodes) => {
      say(`${STEPS} steps over ${nodes} nodes`);
      return { nodes, ...measure(nodes) };
    });
    const last = sizes.at(-1) as (typeof sizes)[number];
    return [
      ...sizes.flatMap(({ nodes, micros, bytes }): Figure[] => [
        { what: `${nodes} nodes: a step, µs`, values: micros, decimals: 0 },
        { what: `${nodes} nodes: allocated by a step, KiB`, values: [bytes / 1024], decimals: 0 },
      ]),
      growth(
        'a step, µs',
        sizes.map(({ nodes, micros }) => [nodes, median(micros)]),
      ),
      growth(
        'allocated by a step',
        sizes.map(({ nodes, bytes }) => [nodes, bytes]),
      ),
      { what: 'starts that it decides', values: [last.starts], decimals: 0 },
    ];
  },
};

function measure(nodes: number) {
  const pipeline = compilePipeline(layered(nodes, EDGES), 'r');
  const run = runAt(nodes, { name: 'half done', done: 0.5, flights: LAYER_WIDTH, failed: 0 });
  const facts = completionsOf(run, pipeline);
  const now = run.createdAt + 60_000_000;
  const once = () => {
    const held = heldBytes();
    const begun = performance.now();
    const { commands } = step(pipeline, run, facts, { now, readAt: now - 10 });
    const micros = (performance.now() - begun) * 1000;
    if (commands.length === 0) throw new Error('the step started nothing');
    return { micros, bytes: heldBytes() - held, starts: commands.length };
  };
  for (let warm = 0; warm < STEPS; warm++) once();
  const steps = Array.from({ length: STEPS }, once);
  // Where the heap shrank, it was collected within the step.
  const grown = steps.flatMap(({ bytes }) => (bytes > 0 ? [bytes] : []));
  return {
    micros: steps.map(({ micros }) => micros),
    bytes: grown.reduce((sum, bytes) => sum + bytes, 0) / grown.length,
    starts: steps[0]?.starts ?? 0,
  };
}

/** Bytes on the heap, and those of buffers beside it. */
function heldBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The ends of the first nodes in flight, and the parameters of whatever the step wants to start. */
function completionsOf(run: RunRecord, pipeline: CompiledPipeline): Facts {
  const results = run.flights.slice(0, COMPLETIONS).map(
    ({ node, attempt, startedAt }): AttemptResult => ({
      node,
      attempt,
      status: 'SUCCEEDED',
      output: '{"done":true}',
      startedAt,
      endedAt: startedAt + 5,
    }),
  );
  const engines = new Map([['lambda', { stateMachineArn: run.machines[0] ?? '' }]]);
  const known: Facts = { results, engines };
  const now = run.createdAt + 60_000_000;
  const { wanted } = step(pipeline, run, known, { now, readAt: now - 10 });
  const evaluations = wanted.map(({ key }): [string, Evaluation] => [key, { ok: true, value: { function: 'noop' } }]);
  return { ...known, evaluations: new Map(evaluations) };
}
