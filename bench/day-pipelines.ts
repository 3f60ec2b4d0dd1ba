/** A thousand pipelines of a team as they may be: most of them daily, most of them at full hours, a few large. */
import type { NodeDefinition, PipelineDefinition } from '#domain/definition.ts';
import { createDraws, type Draws } from './latency/draws.ts';

const LEAST_NODES = 10;
const MOST_NODES = 200;
const WIDEST = 20;
/** Of all pipelines; the others are daily. */
const HOURLY = 0.03;
const SIX_HOURLY = 0.12;
/** Of all pipelines: at minute 0, and at 15, 30 or 45. */
const AT_FULL_HOURS = 0.6;
const AT_QUARTERS = 0.2;
/** Of the daily ones, before six in the morning. */
const AT_NIGHT = 0.5;

/** Pipelines with a schedule; the same from the same seed. */
export function teamPipelines(count: number, seed: number): PipelineDefinition[] {
  const draws = createDraws(seed);
  return Array.from({ length: count }, (_, at) => ({
    name: `pipeline-${at}`,
    schedule: [{ id: 'main', cron: cronOf(draws) }],
    nodes: layersOf(draws),
  }));
}

function cronOf(draws: Draws): string {
  const kind = draws.share();
  const place = draws.share();
  const minute =
    place < AT_FULL_HOURS ? 0 : place < AT_FULL_HOURS + AT_QUARTERS ? 15 * (1 + whole(draws, 3)) : 1 + whole(draws, 59);
  if (kind < HOURLY) return `${minute} * * * *`;
  if (kind < HOURLY + SIX_HOURLY) {
    const first = whole(draws, 6);
    return `${minute} ${[0, 6, 12, 18].map((hour) => hour + first).join(',')} * * *`;
  }
  const hour = draws.share() < AT_NIGHT ? whole(draws, 6) : 6 + whole(draws, 18);
  return `${minute} ${hour} * * *`;
}

/** Layers of up to twenty nodes, each node below one or two of the layer above. */
function layersOf(draws: Draws): NodeDefinition[] {
  const count = Math.round(LEAST_NODES * (MOST_NODES / LEAST_NODES) ** draws.share());
  const nodes: NodeDefinition[] = [];
  let above: readonly string[] = [];
  while (nodes.length < count) {
    const width = Math.min(count - nodes.length, 1 + whole(draws, WIDEST));
    const layer = Array.from({ length: width }, (_, at) => ({
      id: `n${nodes.length + at}`,
      params: { function: 'work', payload: {} },
      dependsOn: upstreams(draws, above),
    }));
    nodes.push(...layer);
    above = layer.map(({ id }) => id);
  }
  return nodes;
}

function upstreams(draws: Draws, above: readonly string[]): string[] {
  if (above.length === 0) return [];
  const chosen = Array.from({ length: 1 + whole(draws, 2) }, () => above[whole(draws, above.length)] as string);
  return [...new Set(chosen)];
}

function whole(draws: Draws, below: number): number {
  return Math.floor(draws.share() * below);
}
