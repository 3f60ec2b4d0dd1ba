/** Branches, played by the real pass in a simulated world with the real evaluator. */
import { describe, expect, it } from 'vitest';
import { createInlineEvaluator } from '#adapters/jsonata/evaluate-template.ts';
import type { NodeDefinition } from '#domain/definition.ts';
import { statusOf } from '#domain/node-status.ts';
import { World } from './world.ts';

function node(id: string, dependsOn: string[] = [], more: Partial<NodeDefinition> = {}): NodeDefinition {
  return { id, dependsOn, params: { function: 'f', payload: {} }, ...more };
}

/** Plays a pipeline whose branch nodes give these outputs. */
async function play(nodes: NodeDefinition[], outputs: Record<string, unknown>, durations: Record<string, number> = {}) {
  const world = new World({
    name: 'branch',
    definition: { name: 'branch', nodes },
    evaluator: createInlineEvaluator(),
    script: (id) => ({
      durationMs: durations[id] ?? 1_000,
      end: { status: 'SUCCEEDED', output: JSON.stringify(outputs[id] ?? {}) },
    }),
  });
  await world.play();
  const run = world.runs.latest(world.run?.id ?? '');
  const states = world.pipeline.nodes.map(({ id, index }) => [id, statusOf(run.nodes.charCodeAt(index)).state]);
  const reasons = world.pipeline.nodes.map(({ id, index }) => [id, statusOf(run.nodes.charCodeAt(index)).reason]);
  return { run, states: Object.fromEntries(states), reasons: Object.fromEntries(reasons) };
}

const branch = '{% $output.next %}';

describe('a branch', () => {
  it('C16 skips what it did not choose at once, and the join waits for what it chose', async () => {
    const { run, states, reasons } = await play(
      [
        node('br', [], { branch }),
        node('a', ['br']),
        node('b', ['br']),
        node('j', ['a', 'b'], { trigger: 'none_failed_min_one_success' }),
      ],
      { br: { next: 'a' } },
      { a: 10_000 },
    );
    expect([run.state, states]).toEqual([
      'SUCCEEDED',
      { br: 'SUCCEEDED', a: 'SUCCEEDED', b: 'SKIPPED', j: 'SUCCEEDED' },
    ]);
    expect(reasons['b']).toBe('BranchNotChosen');
  });

  it('C17 an edge that was not chosen counts as skipped, whatever else leads past it', async () => {
    const { run, states } = await play(
      [
        node('br1', [], { branch }),
        node('br2', ['br1'], { branch }),
        node('d', ['br2']),
        node('e', ['br2']),
        node('p', ['br1', 'd'], { trigger: 'none_failed_min_one_success' }),
      ],
      { br1: { next: ['br2'] }, br2: { next: 'e' } },
    );
    expect([run.state, states]).toEqual([
      'SUCCEEDED',
      { br1: 'SUCCEEDED', br2: 'SUCCEEDED', d: 'SKIPPED', e: 'SUCCEEDED', p: 'SKIPPED' },
    ]);
  });

  it('may choose several, or none', async () => {
    const nodes = [node('br', [], { branch }), node('a', ['br']), node('b', ['br'])];
    expect((await play(nodes, { br: { next: ['a', 'b'] } })).states).toEqual({
      br: 'SUCCEEDED',
      a: 'SUCCEEDED',
      b: 'SUCCEEDED',
    });
    expect((await play(nodes, { br: { next: [] } })).states).toEqual({ br: 'SUCCEEDED', a: 'SKIPPED', b: 'SKIPPED' });
  });

  it('fails when it chooses what is no direct downstream, and says which ones there are', async () => {
    const { run, states } = await play([node('br', [], { branch }), node('a', ['br'])], { br: { next: 'nope' } });
    expect([run.state, states]).toEqual(['FAILED', { br: 'FAILED', a: 'UPSTREAM_FAILED' }]);
    expect(run.firstBad?.error.message).toContain('gave "nope", which is no direct downstream; these are: "a"');
  });

  it('C26 fails with the missing path when its expression finds nothing', async () => {
    const { run } = await play([node('br', [], { branch }), node('a', ['br'])], { br: {} });
    expect(run.firstBad?.error.name).toBe('Millrace.ExpressionError');
    expect(run.firstBad?.error.message).toContain('next');
  });
});

describe('a map by expressions', () => {
  it('reads its list once, gives each item its own, and its output to those below', async () => {
    const nodes = [
      node('gen'),
      node('m', ['gen'], {
        map: { items: '{% $nodes.gen.output.files %}' },
        params: { function: 'f', payload: { file: '{% $item.name %}', index: '{% $index %}' } },
      }),
      node('z', ['m'], { params: { function: 'f', payload: '{% $count($nodes.m.output) %}' } }),
    ];
    const world = new World({
      name: 'map',
      definition: { name: 'map', nodes, output: '{% $nodes.m.output %}' },
      evaluator: createInlineEvaluator(),
      script: (id, _, item) => {
        const output = id === 'gen' ? { files: [{ name: 'a' }, { name: 'b' }] } : `${id}${item ?? ''}`;
        return { durationMs: 1_000, end: { status: 'SUCCEEDED', output: JSON.stringify(output) } };
      },
    });
    await world.play();
    const run = world.runs.latest(world.run?.id ?? '');
    const payloads = [...world.executions.started.values()].map(
      ({ input }) => (JSON.parse(input) as { params: { payload: unknown } }).params.payload,
    );
    expect(payloads).toEqual([{}, { file: 'a', index: 0 }, { file: 'b', index: 1 }, 2]);
    expect(await world.runs.readValue(run, run.outputKey ?? '')).toBe('["m0","m1"]');
  });

  it.each([
    ['a text', '"abc"'],
    ['an object', '{"a": 1}'],

    ['a number', '5'],
  ])('C62 fails over %s, starts nothing, and says what to write', async (kind, value) => {
    const map = { items: `{% ${value} %}` };
    const { run } = await play([node('m', [], { map, retry: { maxAttempts: 3 } })], {});
    expect([run.state, run.nodes]).toEqual(['FAILED', 'X']);
    expect(run.firstBad?.error.message).toContain(
      `gave ${kind}; if it is the one item of a list, write [ … ] around it`,
    );
  });

  it('is skipped where its list comes from a node that was skipped', async () => {
    const { states } = await play(
      [
        node('a'),
        node('gen', ['a'], { trigger: 'one_failed' }),
        node('m', ['gen'], { trigger: 'all_done', map: { items: '{% $nodes.gen.output.files %}' } }),
      ],
      {},
    );
    expect(states).toEqual({ a: 'SUCCEEDED', gen: 'SKIPPED', m: 'SKIPPED' });
  });
});
