/** Maps whose next items have to wait: for their own limit, for a commit with room, for an engine. */
import { describe, expect, it } from 'vitest';
import type { NodeDefinition } from '#domain/definition.ts';
import { World } from './world.ts';

function node(id: string, dependsOn: string[] = [], more: Partial<NodeDefinition> = {}): NodeDefinition {
  return { id, dependsOn, params: { function: 'f', payload: {} }, ...more };
}

describe('a map whose next items wait', () => {
  it('takes nothing of what a commit may hold, so that others start and no message follows another', async () => {
    const map = { items: [1, 2], maxConcurrency: 1 };
    const maps = ['a', 'b', 'c'].map((id) => node(id, [], { map }));
    const world = new World({
      name: 'many maps',
      definition: { name: 'many', nodes: [...maps, node('z')] },
      script: (id) => ({ durationMs: id === 'z' ? 1_000 : 60_000, end: { status: 'SUCCEEDED', output: '{}' } }),
      options: { maxDecisions: 2 },
    });
    await world.play();
    const place = String(world.pipeline.indexOf.get('z'));
    const z = world.trace.starts.find(({ name }) => name.split('-')[3] === place);
    expect(z?.at).toBe(world.beganAt);
    expect(world.trace.operations.length).toBeLessThan(150);
  });

  it('goes on once its engine is back that went between two of them', async () => {
    const world = new World({
      name: 'map without engine',
      definition: { name: 'gone', nodes: [node('m', [], { map: { items: [1, 2], maxConcurrency: 1 } })] },
      engineGone: { fromMs: 500, toMs: 30_000 },
    });
    await world.play();
    expect(world.runs.latest(world.run?.id ?? '')).toMatchObject({ state: 'SUCCEEDED', nodes: 'S' });
    expect(world.trace.starts).toHaveLength(2);
  });
});
