/** Many pipelines that wait for one engine: they cost nothing while nothing changes, and all turn at once when it comes. */
import { describe, expect, it } from 'vitest';
import { putEngine, removeEngine } from '#scheduler/engines.ts';
import { putPipeline } from '#scheduler/put-pipeline.ts';
import { type Act, machine, PipelineWorld } from './pipeline-world.ts';

const MINUTE = 60_000;
const PIPELINES = 1_000;

const puts: Act[] = Array.from({ length: PIPELINES }, (_, at) => ({
  atMs: 1,
  ask: async (deps) => {
    const definition = { name: `p${at}`, nodes: [{ id: 'a', engine: 'gpu' }] };
    return (await putPipeline(deps, { definition, revision: 'rev1' })).kind !== 'busy';
  },
}));

function counts(world: PipelineWorld) {
  const changed = world.events.filter(({ detailType }) => detailType === 'PipelineChanged').length;
  const writes = world.calls.filter((call) => /\.(?:commit|put|remove)/.test(call)).length;
  return { changed, writes, calls: world.calls.length };
}

async function statuses(world: PipelineWorld): Promise<string[]> {
  const { items } = await world.pipelines.listHeads(PIPELINES);
  return [...new Set(items.map(({ ready, dueAt }) => `${ready?.status} ${dueAt}`))];
}

describe('1,000 pipelines without an engine', { timeout: 120_000 }, () => {
  it('C97 write and tell nothing for ten minutes, and are all ready within a tick of its coming', async () => {
    const came = 20 * MINUTE;
    const registration = { stateMachineArn: machine('gpu'), labels: [] };
    const world = new PipelineWorld([
      ...puts,
      { atMs: came, ask: async (deps) => (await putEngine(deps, 'gpu', registration)).kind !== 'busy' },
      { atMs: came + 5 * MINUTE, ask: async (deps) => (await removeEngine(deps, 'gpu')).kind !== 'busy' },
    ]);
    await world.play(10 * MINUTE);
    const before = counts(world);
    expect(before.changed).toBe(PIPELINES);
    expect(await statuses(world)).toEqual(['False undefined']);
    await world.play(came - 1);
    expect(counts(world)).toEqual(before);
    await world.play(came + 4 * MINUTE);
    expect(await statuses(world)).toEqual(['True undefined']);
    expect(counts(world).changed).toBe(2 * PIPELINES);
    expect(counts(world).writes - before.writes).toBeLessThan(2 * PIPELINES + 10);
    await world.play(came + 9 * MINUTE);
    expect(await statuses(world)).toEqual(['False undefined']);
    expect(counts(world).changed).toBe(3 * PIPELINES);
    expect(world.troubles).toEqual([]);
  });
});
