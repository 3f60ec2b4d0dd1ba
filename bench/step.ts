import type { AttemptResult, Evaluation, Facts } from '#domain/facts.ts';
import { type CompiledPipeline, compilePipeline } from '#domain/graph.ts';
import type { RunRecord } from '#domain/run.ts';
import { step } from '#domain/step.ts';
import { runAt } from './aggregate-runs.ts';
import type { Bench } from './bench.ts';

const WIDTH = 100;
const LAYERS = 100;
const COMPLETIONS = 10;
/** Steps that are measured, after as many that are not. */
const STEPS = 500;

/** The pure heart of a pass on the largest DAG there may be, with neither store nor network. */
export const stepAlone: Bench = {
  name: 'step',
  title: `step() on ${WIDTH * LAYERS} nodes in ${LAYERS} layers: ${COMPLETIONS} completions, the starts that follow`,
  async run(say) {
    const pipeline = layered();
    const run = runAt(WIDTH * LAYERS, { name: 'half done', done: 0.5, flights: WIDTH, failed: 0 });
    const facts = completionsOf(run, pipeline);
    const now = run.createdAt + 60_000_000;
    const measure = () => {
      const begun = performance.now();
      const { commands } = step(pipeline, run, facts, { now, readAt: now - 10 });
      const micros = (performance.now() - begun) * 1000;
      if (commands.length === 0) throw new Error('the step started nothing');
      return { micros, starts: commands.length };
    };
    say(`${STEPS} steps`);
    for (let warm = 0; warm < STEPS; warm++) measure();
    const steps = Array.from({ length: STEPS }, measure);
    return [
      { what: 'a step, µs', values: steps.map(({ micros }) => micros), decimals: 0 },
      { what: 'starts that it decides', values: [steps[0]?.starts ?? 0], decimals: 0 },
    ];
  },
};

/** Every node depends on three neighbours in the layer above. */
function layered(): CompiledPipeline {
  const idOf = (layer: number, at: number) => `l${layer}-${(at + WIDTH) % WIDTH}`;
  const nodes = Array.from({ length: WIDTH * LAYERS }, (_, index) => {
    const [layer, at] = [Math.floor(index / WIDTH), index % WIDTH];
    const dependsOn = layer === 0 ? [] : [-1, 0, 1].map((beside) => idOf(layer - 1, at + beside));
    return { id: idOf(layer, at), params: { function: 'noop' }, dependsOn };
  });
  return compilePipeline({ name: 'layered', nodes }, 'r');
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
