import { createWorkerEvaluator } from '#adapters/jsonata/worker-evaluator.ts';
import type { PipelineDefinition } from '#domain/definition.ts';
import type { Evaluator } from '#ports/index.ts';
import type { Bench } from './bench.ts';
import { SIZES } from './growth.ts';
import { type PlayedSize, playedFigures } from './played-figures.ts';
import { type Play, playQuietly } from './quiet-world.ts';

const WARM_UP = 500;

/** A list that a node gives, its items, and a node that reads all outputs. */
export const mapAlone: Bench = {
  name: 'map',
  title: 'a map from the list to the last output, by the real pass over the memory adapters, no fault',
  async run(say) {
    const evaluator = createWorkerEvaluator();
    try {
      await playQuietly(playOf(WARM_UP, evaluator));
      const sizes: PlayedSize[] = [];
      for (const size of SIZES) {
        say(`${size} items`);
        const play = playOf(size, evaluator);
        sizes.push({
          size,
          timed: await playQuietly(play),
          measured: await playQuietly({ ...play, isMeasured: true }),
        });
      }
      return playedFigures('item', sizes);
    } finally {
      await evaluator.close();
    }
  },
};

function playOf(items: number, evaluator: Evaluator): Play {
  const list = JSON.stringify(Array.from({ length: items }, (_, at) => ({ file: `part-${at}.csv` })));
  return {
    definition: mapPipeline(),
    evaluator,
    outputOf: ({ node, item }) => (node === 'list' ? list : JSON.stringify({ rows: item ?? 0 })),
  };
}

function mapPipeline(): PipelineDefinition {
  const nodes = [
    { id: 'list', params: { function: 'list' } },
    {
      id: 'load',
      dependsOn: ['list'],
      map: { items: '{% $nodes.list.output %}', maxConcurrency: 10_000 },
      params: { function: 'load', payload: { file: '{% $item.file %}' } },
    },
    { id: 'sum', dependsOn: ['load'], params: { function: 'sum', payload: '{% $sum($nodes.load.output.rows) %}' } },
  ];
  return { name: 'map', nodes };
}
