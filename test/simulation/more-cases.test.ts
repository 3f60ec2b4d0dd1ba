/** Cases about conditions, clocks, nested maps and stops without an engine, played by the real pass and tick. */
import { describe, expect, it } from 'vitest';
import { createInlineEvaluator } from '#adapters/jsonata/evaluate-template.ts';
import type { NodeDefinition, PipelineDefinition } from '#domain/definition.ts';
import { statusOf } from '#domain/node-status.ts';
import { chooser } from '#testing/chooser.ts';
import { type Faults, type Scenario, type Script, World } from './world.ts';

function node(id: string, dependsOn: string[] = [], more: Partial<NodeDefinition> = {}): NodeDefinition {
  return { id, dependsOn, params: { function: 'f', payload: {} }, ...more };
}

function ok(output: unknown, durationMs = 1_000): Script {
  return { durationMs, end: { status: 'SUCCEEDED', output: JSON.stringify(output) } };
}

const broken: Script = { durationMs: 1_000, end: { status: 'FAILED', error: { name: 'Broken', message: 'told so' } } };

async function play(scenario: Omit<Scenario, 'name' | 'evaluator'>, faults: Faults = {}) {
  const world = new World({ name: 'case', evaluator: createInlineEvaluator(), ...scenario }, faults);
  await world.play();
  const run = world.runs.latest(world.run?.id ?? '');
  const states = world.pipeline.nodes.map(({ id, index }) => [id, statusOf(run.nodes.charCodeAt(index)).state]);
  const output = run.outputKey && (await world.runs.readValue(run, run.outputKey));
  return {
    world,
    run,
    states: Object.fromEntries(states) as Record<string, string>,
    output: output && JSON.parse(output),
  };
}

describe('conditions', () => {
  it('C25 are decided before the parameters are resolved', async () => {
    const readsC = { params: { function: 'f', payload: { value: '{% $nodes.c.output.value %}' } } };
    const { run, states } = await play({
      definition: {
        name: 'case',
        nodes: [
          node('a'),
          node('b', ['a']),
          node('b2', ['b']),
          node('c', ['a'], { when: '{% false %}' }),
          node('c2', ['c'], { when: '{% false %}', ...readsC }),
          node('d', ['b2', 'c2'], { trigger: 'none_failed_min_one_success' }),
        ],
      },
    });
    expect([run.state, states]).toEqual([
      'SUCCEEDED',
      { a: 'SUCCEEDED', b: 'SUCCEEDED', b2: 'SUCCEEDED', c: 'SKIPPED', c2: 'SKIPPED', d: 'SUCCEEDED' },
    ]);
  });
});

describe('a stop', () => {
  it('C43 of a run that no engine can serve ends it at once, without a call to any', async () => {
    const { world, run, states } = await play({
      definition: { name: 'case', nodes: [node('a', [], { engine: 'gpu' }), node('b', ['a'])] },
      stopAtMs: 5_000,
    });
    expect([run.state, states]).toEqual(['ABORTED', { a: 'ABORTED', b: 'ABORTED' }]);
    expect((run.endedAt ?? 0) - run.createdAt).toBe(5_000);
    expect(world.executions.started.size).toBe(0);
  });
});

describe('completions', () => {
  it('C85 of fifty upstreams in one millisecond start the join once', async () => {
    const wide = Array.from({ length: 50 }, (_, at) => node(`n${at}`));
    const nodes = [
      ...wide,
      node(
        'join',
        wide.map(({ id }) => id),
      ),
    ];
    for (let seed = 1; seed <= 10; seed++) {
      const { world, run } = await play({ definition: { name: 'case', nodes } }, { choose: chooser(seed), copies: 2 });
      const joins = world.trace.starts.filter(({ name }) => name.endsWith('-50-1'));
      expect([run.state, joins.length]).toEqual(['SUCCEEDED', 1]);
    }
  });

  it('C88 of an earlier attempt, late and again and again, do not end a later one', async () => {
    const nodes = [node('a', [], { retry: { maxAttempts: 3, intervalSeconds: 1 } })];
    for (let seed = 1; seed <= 30; seed++) {
      const faults = { choose: chooser(seed), copies: 3, lateMs: 90_000 };
      const script = (_: string, attempt: number) => (attempt < 3 ? broken : ok('done', 30_000));
      const { world, run, states } = await play({ definition: { name: 'case', nodes }, script }, faults);
      expect([run.state, states, world.trace.starts.length]).toEqual(['SUCCEEDED', { a: 'SUCCEEDED' }, 3]);
    }
  });
});

describe('clocks that differ', () => {
  it.each([-120_000, 600_000])('C100 by %i ms neither time an attempt out nor lose it', async (engineClockMs) => {
    const nodes = [node('a', [], { timeoutSeconds: 60 })];
    for (const faults of [{}, { drop: true }, { drop: true, tickMs: 2_000 }]) {
      const scenario = { definition: { name: 'case', nodes }, engineClockMs, script: () => ok('done', 5_000) };
      const { world, run } = await play(scenario, faults);
      expect([run.state, run.nodes, world.trace.starts.length]).toEqual(['SUCCEEDED', 'S', 1]);
    }
  });
});

/** A child that maps its list to itself. */
function inner(maxConcurrency: number): PipelineDefinition {
  const map = { items: '{% $run.input.list %}', maxConcurrency };
  const params = { function: 'f', payload: '{% $item %}' };
  return { name: 'inner', nodes: [node('each', [], { map, params })], output: '{% $nodes.each.output %}' };
}

function outer(items: readonly unknown[], maxConcurrency: number): PipelineDefinition {
  const map = { items: items as never, maxConcurrency };
  const params = { pipeline: 'inner', input: { list: '{% $item %}' } };
  const nodes = [node('rows', [], { engine: 'pipeline', map, params })];
  return { name: 'outer', nodes, output: '{% $nodes.rows.output %}' };
}

describe('maps of maps', () => {
  const identity: Scenario['script'] = (_id, _attempt, _item, payload) => ok(payload);

  it.each([
    [
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      100,
    ],
    [
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      1,
    ],
    [[[], [1], []], 100],
  ])('C58 give lists of lists: %j, %i at a time', async (items, maxConcurrency) => {
    const { run, output } = await play({
      definition: outer(items, maxConcurrency),
      children: [inner(maxConcurrency)],
      script: identity,
    });
    expect([run.state, output]).toEqual(['SUCCEEDED', items]);
  });

  it('C58 tell the way to the item that failed', async () => {
    const { run } = await play({
      definition: outer(
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
        100,
      ),
      children: [inner(100)],
      script: (_id, _attempt, _item, payload) => (payload === 6 ? broken : ok(payload)),
    });
    expect(run.state).toBe('FAILED');
    expect(run.firstBad?.error.message).toMatch(/^item 1: .*item 2: Broken: told so/);
  });

  it('C61 keep a branch within its own item', async () => {
    const nodes = [
      node('br', [], { branch: '{% $run.input.n = 1 ? "A" : "B" %}' }),
      node('A', ['br']),
      node('B', ['br']),
      node('end', ['A', 'B'], { trigger: 'none_failed_min_one_success' }),
      node('x', [], { params: { function: 'f', payload: '{% $run.input.n %}' } }),
      node('report', ['x'], { trigger: 'one_failed' }),
    ];
    const map = { items: [1, 2, 1] };
    const params = { pipeline: 'item', input: { n: '{% $item %}' } };
    const { world, run } = await play({
      definition: { name: 'case', nodes: [node('m', [], { engine: 'pipeline', map, params })] },
      children: [{ name: 'item', nodes }],
      script: (id, _attempt, _item, payload) => (id === 'x' && payload === 2 ? broken : ok({})),
    });
    const children = world.runs.all().filter(({ pipeline }) => pipeline === 'item');
    // In topological order: br, x, A, B, report, end.
    expect(children.map((child) => child.nodes).sort()).toEqual(['SFBSSS', 'SSSBkS', 'SSSBkS']);
    expect(run.state).toBe('FAILED');
  });
});
