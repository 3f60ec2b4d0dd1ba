/** Scenarios (T…, U…) that are rules: what a run comes to, what a start in part runs, what a condition says. */
import { describe, expect, it } from 'vitest';
import { type BeginningRequest, beginFrom } from '#domain/beginning.ts';
import { type EngineStanding, readyCondition } from '#domain/conditions.ts';
import type { NodeDefinition } from '#domain/definition.ts';
import { DEFAULT_STEP_OPTIONS } from '#domain/draft.ts';
import { compilePipeline } from '#domain/graph.ts';
import { type NodeCode, statusOf } from '#domain/node-status.ts';
import type { Decision, RunRecord, StopOrder } from '#domain/run.ts';
import { step } from '#domain/step.ts';
import { newRun } from '../simulation/new-run.ts';

const NOW = 1_800_000_000_000;

function node(id: string, dependsOn: string[] = [], more: Partial<NodeDefinition> = {}): NodeDefinition {
  return { id, dependsOn, params: { function: 'f' }, ...more };
}

describe('T42 what a run comes to', () => {
  const ENDS: readonly NodeCode[] = [...'SCMFXLEGIxTHQOAfdKkBNzU'] as NodeCode[];
  const STOPS: readonly (StopOrder['kind'] | undefined)[] = [undefined, 'user', 'failFast', 'overlap', 'timeout'];
  /** Node `b` may fail. */
  const pipeline = compilePipeline(
    { name: 'p', nodes: [node('a'), node('b', [], { allowFailure: true }), node('c')] },
    'r',
  );

  function stateOf(nodes: string, stop?: StopOrder['kind']): RunRecord['state'] {
    const run: RunRecord = {
      ...newRun(pipeline, NOW),
      state: stop ? 'STOPPING' : 'RUNNING',
      nodes,
      ...(stop && { stop: { kind: stop, at: NOW } }),
    };
    return step(pipeline, run, { engines: new Map() }, { now: NOW, readAt: NOW }, DEFAULT_STEP_OPTIONS).run.state;
  }

  const isBad = (code: string) => statusOf(code as NodeCode).standing === 'bad' && code !== 'U';

  /** The rule in words: its deadline, then a bad node that may not fail, then a stop, then success. */
  function expectedOf([a, , c]: readonly NodeCode[], stop?: StopOrder['kind']): RunRecord['state'] {
    if (stop === 'timeout') return 'TIMED_OUT';
    if (isBad(a as string) || isBad(c as string)) return 'FAILED';
    return stop ? 'ABORTED' : 'SUCCEEDED';
  }

  it('has no hole: every mix of ends, under every stop, is one state, and the same in any order', () => {
    let mixes = 0;
    for (const a of ENDS) {
      for (const b of ENDS) {
        for (const c of ENDS) {
          for (const stop of STOPS) {
            const state = stateOf(a + b + c, stop);
            if (state !== expectedOf([a, b, c], stop)) expect.fail(`${a}${b}${c} ${stop}: ${state}`);
            if (state !== stateOf(c + b + a, stop)) expect.fail(`${c}${b}${a} ${stop} is another state`);
            mixes += 1;
          }
        }
      }
    }
    expect(mixes).toBe(ENDS.length ** 3 * STOPS.length);
    expect(new Set(ENDS).size).toBe(ENDS.length);
  });

  it.each([...'pqyngeorm'])('is not decided while a node is %s', (open) => {
    for (const nodes of [`${open}SS`, `FF${open}`, `S${open}K`]) expect(stateOf(nodes)).toBe('RUNNING');
  });
});

describe('T37 which nodes a start in part runs', () => {
  // 0 file → 1 → 2 → 4 and 1 → 3 → 4; the first two are up to date.
  const pipeline = compilePipeline(
    {
      name: 'p',
      nodes: [node('0'), node('1', ['0']), node('2', ['1']), node('3', ['1']), node('4', ['2', '3'])],
    },
    'r',
  );
  const earlierOf = (nodes: string) => ({
    pipeline,
    run: { ...newRun(pipeline, NOW), state: 'FAILED' as const, nodes, decisions: [], rev: 9 },
    decisions: [...nodes].map((to, at): Decision => ({ at: NOW, rev: 2, to: to as NodeCode, nodes: [at], attempt: 1 })),
  });
  const begin = (nodes: string | undefined, request: Partial<BeginningRequest>) =>
    beginFrom(pipeline, { from: 'failed', now: NOW, ...request, ...(nodes && { earlier: earlierOf(nodes) }) });
  const part = (nodes: string | undefined, ...only: number[]) =>
    begin(nodes, { from: new Set(only), only: new Set(only) }).nodes;

  it('without a selection: what is not up to date, or all where that is asked for', () => {
    expect(begin('SSFUU', {}).nodes).toBe('SSppp');
    expect(begin('SSSSS', {}).hasOpenNodes).toBe(false);
    expect(begin('SSSSS', { from: 'all' }).nodes).toBe('ppppp');
  });

  it.each([
    [[0, 1], 'ppNNN', 'ppNNN'],
    [[0, 2], 'pppNN', 'pppNN'],
    [[2, 4], 'SSppp', 'ppppp'],
    [[1, 4], 'Spppp', 'ppppp'],
    [[3], 'SSNpN', 'ppNpN'],
    [[4], 'SSppp', 'ppppp'],
  ])('%j: what is named, and of what is above it what is not up to date', (only, reusing, alone) => {
    expect(part('SSNNN', ...only)).toBe(reusing);
    expect(part(undefined, ...only)).toBe(alone);
  });
});

describe('U16 U21 the condition of a pipeline of two engines', () => {
  const STATUSES: readonly EngineStanding['status'][] = ['Available', 'Draining', 'Unavailable', 'Missing'];
  const pipeline = compilePipeline(
    {
      name: 'p',
      nodes: [
        { id: 'a', engine: 'x', params: {} },
        { id: 'b', engine: 'y', params: {} },
      ],
    },
    'r',
  );

  it.each(STATUSES.flatMap((x) => STATUSES.map((y) => [x, y] as const)))('%s and %s', (x, y) => {
    const standing = (status: EngineStanding['status']): EngineStanding => ({ status, message: `It is ${status}.` });
    const engines = new Map([
      ['x', standing(x)],
      ['y', standing(y)],
    ]);
    const condition = readyCondition({ pipeline, engines, before: undefined, now: NOW });
    const notThere = [x, y].filter((status) => status !== 'Available');
    expect(condition.status).toBe(notThere.length === 0 ? 'True' : 'False');
    const isDraining = notThere.every((status) => status === 'Draining');
    if (notThere.length > 0) expect(condition.reason).toBe(isDraining ? 'EngineDraining' : 'NoEngine');
    expect(condition.message.startsWith('no engines available to handle pipeline: ')).toBe(notThere.length > 0);
    for (const [id, status] of [
      ['a', x],
      ['b', y],
    ]) {
      expect(condition.message.includes(`"${id}"`)).toBe(status !== 'Available');
    }
    expect(readyCondition({ pipeline, engines, before: condition, now: NOW + 1 })).toBe(condition);
  });
});
