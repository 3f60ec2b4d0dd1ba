import type { Evaluator } from '#ports/index.ts';
import type { Bench } from './bench.ts';
import { SIZES } from './growth.ts';
import { LAYER_WIDTH, layered } from './layers.ts';
import { type PlayedSize, playedFigures } from './played-figures.ts';
import { playQuietly } from './quiet-world.ts';

const EDGES = 3;
const WARM_UP = 500;

/** Whole runs of DAGs in layers. */
export const layersAlone: Bench = {
  name: 'layers',
  title: `a whole DAG in layers of ${LAYER_WIDTH}, by the real pass over the memory adapters, no fault`,
  async run(say) {
    await playQuietly(playOf(WARM_UP));
    const sizes: PlayedSize[] = [];
    for (const size of SIZES) {
      say(`${size} nodes`);
      const play = playOf(size);
      sizes.push({ size, timed: await playQuietly(play), measured: await playQuietly({ ...play, isMeasured: true }) });
    }
    return playedFigures('node', sizes);
  },
};

function playOf(nodes: number) {
  return { definition: layered(nodes, EDGES), evaluator: NO_EVALUATOR };
}

const NO_EVALUATOR: Evaluator = {
  evaluate: async () => {
    throw new Error('there is no expression in these pipelines');
  },
};
