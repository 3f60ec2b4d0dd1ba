import { describe, expect, it } from 'vitest';
import { type EngineStanding, enginesOf, type ReadyCondition, readyCondition } from '#domain/conditions.ts';
import { type CompiledPipeline, compilePipeline } from '#domain/graph.ts';

const BUILT_IN = new Set(['lambda']);
const DRAINING: EngineStanding = { status: 'Draining', message: 'It takes no new work; what runs on it finishes.' };
const SILENT: EngineStanding = { status: 'Unavailable', message: 'Its owner has not reported for 60 s.' };
const THERE: EngineStanding = { status: 'Available', message: 'It takes work.' };
const MISSING: EngineStanding = { status: 'Missing', message: 'There is no such engine.' };

function pipeline(engines: readonly string[], revision = 'rev1'): CompiledPipeline {
  return compilePipeline(
    { name: 'etl', nodes: engines.map((engine, at) => ({ id: `n${at}`, engine, params: {} })) },
    revision,
  );
}

function ready(
  of: CompiledPipeline,
  engines: Readonly<Record<string, EngineStanding>>,
  before?: ReadyCondition,
  now = 1000,
): ReadyCondition {
  return readyCondition({ pipeline: of, engines: new Map(Object.entries(engines)), before, now });
}

describe('the condition Ready', () => {
  it('is True where every engine takes work, those that are built in among them', () => {
    const condition = ready(pipeline(['lambda', 'gpu']), { gpu: THERE });
    expect(condition).toMatchObject({ type: 'Ready', status: 'True', reason: 'EnginesAvailable' });
    expect(condition.observedRevision).toBe('rev1');
    expect(enginesOf(pipeline(['lambda', 'gpu', 'gpu', 'emr']), BUILT_IN)).toEqual(['gpu', 'emr']);
  });

  it('U4 is False with the sentence and the names of nodes and engines where one is missing', () => {
    const condition = ready(pipeline(['gpu', 'lambda', 'gpu']), { gpu: MISSING });
    expect(condition).toMatchObject({
      status: 'False',
      reason: 'NoEngine',
      message: 'no engines available to handle pipeline: "n0" and "n2" need "gpu"',
    });
  });

  it('names some of many', () => {
    const { message } = ready(pipeline(Array.from({ length: 500 }, () => 'gpu')), { gpu: MISSING });
    expect(message).toBe('no engines available to handle pipeline: "n0", "n1", "n2" and 497 more need "gpu"');
  });

  it('says of an engine that is there why it takes no work', () => {
    expect(ready(pipeline(['gpu']), { gpu: DRAINING })).toMatchObject({
      status: 'False',
      reason: 'EngineDraining',
      message: 'no engines available to handle pipeline: "n0" needs "gpu", which is draining',
    });
    const both = ready(pipeline(['gpu', 'emr', 'big']), { gpu: DRAINING, emr: SILENT, big: MISSING });
    expect(both.reason).toBe('NoEngine');
    expect(both.message).toBe(
      'no engines available to handle pipeline: "n2" needs "big"; "n1" needs "emr", which is unavailable (Its owner has not reported for 60 s); "n0" needs "gpu", which is draining',
    );
  });

  it('moves lastTransitionTime only when status changes, and is the same one where nothing changes', () => {
    const first = ready(pipeline(['gpu']), { gpu: MISSING }, undefined, 1000);
    expect(ready(pipeline(['gpu']), { gpu: MISSING }, first, 2000)).toBe(first);
    const drained = ready(pipeline(['gpu']), { gpu: DRAINING }, first, 3000);
    expect([drained.reason, drained.lastTransitionTime]).toEqual(['EngineDraining', 1000]);
    const revised = ready(pipeline(['gpu'], 'rev2'), { gpu: DRAINING }, drained, 4000);
    expect([revised.observedRevision, revised.lastTransitionTime]).toEqual(['rev2', 1000]);
    const there = ready(pipeline(['gpu'], 'rev2'), { gpu: THERE }, revised, 5000);
    expect([there.status, there.lastTransitionTime]).toEqual(['True', 5000]);
  });
});
