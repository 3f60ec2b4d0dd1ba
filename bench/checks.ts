import { loadDefinition } from '#authoring/load-definition.ts';
import { parseDefinition } from '#domain/definition-schema.ts';
import { compilePipeline } from '#domain/graph.ts';
import { type Bench, type Figure, repeat } from './bench.ts';
import { growth, SIZES } from './growth.ts';
import { layered } from './layers.ts';

const EDGES = 10;

/** What happens to a definition before it is stored. */
export const checks: Bench = {
  name: 'checks',
  title: `a definition of nodes with ${EDGES} edges each: read, checked, compiled`,
  async run(say) {
    const figures: Figure[] = [];
    for (const nodes of SIZES) measure(nodes);
    for (const nodes of SIZES) {
      const measured = await repeat(
        (progress) => say(`${nodes} nodes: ${progress}`),
        async () => measure(nodes),
      );
      figures.push(...measured.map((figure) => ({ ...figure, what: `${nodes} nodes: ${figure.what}` })));
    }
    const whats = figures.slice(0, figures.length / SIZES.length).map(({ what }) => what.replace(/^\d+ nodes: /, ''));
    return [...figures, ...whats.map((what) => growthOf(figures, what))];
  },
};

function measure(nodes: number) {
  const text = JSON.stringify(layered(nodes, EDGES));
  const value: unknown = JSON.parse(text);
  const load = timed(() => loadDefinition(text, 'json'));
  const check = timed(() => parseDefinition(value));
  const { result } = check;
  if (!load.result.ok || !result.ok) throw new Error('the definition was refused');
  const compile = timed(() => compilePipeline(result.definition, 'r'));
  const aim = nodes === SIZES.at(-1) ? { aim: '< 1000' } : {};
  return [
    { what: 'the text read and checked, ms', value: load.ms, ...aim },
    { what: 'checked, ms', value: check.ms, ...aim },
    { what: 'compiled, ms', value: compile.ms },
  ];
}

function timed<T>(work: () => T) {
  const begun = performance.now();
  const result = work();
  return { result, ms: performance.now() - begun };
}

function growthOf(figures: readonly Figure[], what: string): Figure {
  const valuesAt = (nodes: number) => figures.find((figure) => figure.what === `${nodes} nodes: ${what}`)?.values ?? [];
  return growth(
    what,
    // The least: what disturbs the machine makes nothing faster.
    SIZES.map((nodes) => [nodes, Math.min(...valuesAt(nodes))]),
  );
}
