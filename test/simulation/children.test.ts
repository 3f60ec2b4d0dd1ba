/** Child pipelines, played by the real pass in a simulated world. */
import { describe, expect, it } from 'vitest';
import { createInlineEvaluator } from '#adapters/jsonata/evaluate-template.ts';
import type { NodeDefinition, PipelineDefinition } from '#domain/definition.ts';
import { type Faults, type Scenario, type Script, World } from './world.ts';

function node(id: string, dependsOn: string[] = [], more: Partial<NodeDefinition> = {}): NodeDefinition {
  return { id, dependsOn, params: { function: 'f', payload: {} }, ...more };
}

const child: PipelineDefinition = {
  name: 'child',
  nodes: [node('one'), node('two', ['one'])],
  output: '{% $nodes.two.output %}',
};

const callsChild: Partial<NodeDefinition> = { engine: 'pipeline', params: { pipeline: 'child', input: { a: 1 } } };

function scenario(more: Partial<NodeDefinition> = {}, script?: Scenario['script']): Scenario {
  const nodes = [node('before'), node('sub', ['before'], { ...callsChild, ...more }), node('after', ['sub'])];
  return {
    name: 'parent',
    definition: { name: 'parent', nodes, output: '{% $nodes.sub.output %}' },
    children: [child],
    evaluator: createInlineEvaluator(),
    ...(script && { script }),
  };
}

function ok(output: unknown, durationMs = 1_000): Script {
  return { durationMs, end: { status: 'SUCCEEDED', output: JSON.stringify(output) } };
}

async function play(of: Scenario, faults: Faults = {}) {
  const world = new World(of, faults);
  await world.play(200);
  const run = world.runs.latest(world.run?.id ?? '');
  const children = world.runs.all().filter(({ id }) => id !== run.id);
  const output = run.outputKey && (await world.runs.readValue(run, run.outputKey));
  return { world, run, children, output };
}

const broken: Script = { durationMs: 1_000, end: { status: 'FAILED', error: { name: 'Broken', message: 'told so' } } };

describe('a pipeline node', () => {
  it('runs a child, takes its output, and links the two', async () => {
    const { run, children, output, world } = await play(scenario({}, (id) => ok(`out ${id}`)));
    expect([run.state, output]).toEqual(['SUCCEEDED', '"out two"']);
    expect(children.map(({ state, pipeline, trigger, depth }) => [state, pipeline, trigger, depth])).toEqual([
      ['SUCCEEDED', 'child', { type: 'pipeline', runId: run.id }, 1],
    ]);
    expect(world.ticks).toBe(0);
  });

  it('fails with the error of its child, and tries again with a child of its own', async () => {
    // A world asks twice how an attempt goes: when it is started, and when it runs.
    let asked = 0;
    const retry = { maxAttempts: 2, intervalSeconds: 1 };
    const { run, children } = await play(
      scenario({ retry }, (id) => {
        if (id === 'two' && asked++ < 2) return broken;
        return ok(id);
      }),
    );
    expect([run.state, children.map(({ state }) => state)]).toEqual(['SUCCEEDED', ['FAILED', 'SUCCEEDED']]);
    const failed = await play(scenario({}, (id) => (id === 'two' ? broken : ok(id))));
    expect(failed.run.state).toBe('FAILED');
    expect(failed.run.firstBad?.error.name).toBe('Millrace.ChildRunFailed');
    expect(failed.run.firstBad?.error.message).toContain('Broken: told so');
  });

  it('C44 a stop goes down to the child, and the run ends only when the child has', async () => {
    const { run, children, world } = await play({ ...scenario({}, () => ok({}, 30_000)), stopAtMs: 40_000 });
    expect([run.state, children.map(({ state }) => state)]).toEqual(['ABORTED', ['ABORTED']]);
    expect([...world.executions.started.values()].filter(({ status }) => status === 'RUNNING')).toEqual([]);
    expect((children[0]?.endedAt ?? 0) <= (run.endedAt ?? 0)).toBe(true);
  });

  it('refuses a pipeline that does not exist, by name', async () => {
    const { run } = await play(scenario({ params: { pipeline: 'nowhere' } }));
    expect([run.state, run.firstBad?.error.message]).toEqual(['FAILED', 'there is no pipeline "nowhere"']);
  });

  it('C107 a pipeline that starts itself ends by its depth, not by its bill', async () => {
    const nodes = [node('again', [], { engine: 'pipeline', params: { pipeline: '{% "self" %}' } })];
    const self: PipelineDefinition = { name: 'self', nodes };
    const { run, children } = await play({
      name: 'self',
      definition: { name: 'parent', nodes },
      children: [self],
      evaluator: createInlineEvaluator(),
    });
    expect([run.state, children.length]).toEqual(['FAILED', 16]);
  });

  it('maps over children: a map within a map', async () => {
    const map = { items: [1, 2, 3], maxConcurrency: 2 };
    const { run, children, output } = await play(scenario({ map }, (id) => ok(`out ${id}`)));
    expect([run.state, children.length, output]).toEqual(['SUCCEEDED', 3, '["out two","out two","out two"]']);
  });

  it('C55 ends right, with one child an attempt, at whatever await it or its child dies', {
    timeout: 120_000,
  }, async () => {
    const of = scenario({}, (id) => ok(`out ${id}`));
    for (const drop of [false, true]) {
      const length = (await play(of, { drop })).world.trace.operations.length;
      for (let at = 0; at < length + 3; at++) {
        for (const when of ['before', 'after'] as const) {
          const { run, children, output } = await play(of, { drop, at: new Map([[at, { kind: 'kill', when }]]) });
          expect([run.state, children.length, output], `${when} ${at}`).toEqual(['SUCCEEDED', 1, '"out two"']);
        }
      }
    }
  });

  it('stopped, leaves no child behind, at whatever await it or its child dies or freezes', {
    timeout: 120_000,
  }, async () => {
    const of = { ...scenario({}, () => ok({}, 30_000)), stopAtMs: 30_500 };
    const length = (await play(of)).world.trace.operations.length;
    for (let at = 0; at < length + 3; at++) {
      for (const when of ['before', 'after'] as const) {
        const faults = [
          { kind: 'kill', when },
          { kind: 'freeze', when, forMs: 200_000 },
        ] as const;
        for (const fault of faults) {
          const { children } = await play(of, { at: new Map([[at, fault]]) });
          expect(
            children.every(({ dueAt }) => dueAt === undefined),
            `${fault.kind} ${when} ${at}`,
          ).toBe(true);
        }
      }
    }
  });
});

describe('a map in each child of a map', () => {
  const inner: PipelineDefinition = {
    name: 'child',
    nodes: [
      node('gen'),
      node('m', ['gen'], {
        map: { items: '{% $run.input.list %}', maxConcurrency: 2, toleratedFailureCount: 1 },
        retry: { maxAttempts: 2, intervalSeconds: 1 },
      }),
      node('z', ['m']),
    ],
    output: '{% $nodes.m.output %}',
  };
  const params = { pipeline: 'child', input: { list: '{% $item %}' } };
  const map = {
    items: [
      [1, 2, 3],
      [4, 5],
    ],
  };
  /** The second item of each inner map fails for good, the third one at first. */
  const script: Scenario['script'] = (id, attempt, item) => {
    if (id === 'm' && (item === 1 || (item === 2 && attempt === 1))) return broken;
    return ok(`${id} ${item ?? ''}`);
  };
  const of: Scenario = { ...scenario({ params, map }, script), children: [inner] };
  const told = { error: { name: 'Broken', message: 'told so' } };
  const expected = [
    ['m 0', told, 'm 2'],
    ['m 0', told],
  ];

  it('gives the lists of the children in a list, each in its order', async () => {
    const { run, children, output, world } = await play(of);
    expect([run.state, children.map(({ state }) => state)]).toEqual(['SUCCEEDED', ['SUCCEEDED', 'SUCCEEDED']]);
    expect(JSON.parse(output ?? '')).toEqual(expected);
    expect(world.ticks).toBe(0);
  });

  it('C49 drops no item, and starts none twice, at whatever await a pass dies', {
    timeout: 240_000,
  }, async () => {
    const length = (await play(of)).world.trace.operations.length;
    for (let at = 0; at < length + 3; at++) {
      for (const when of ['before', 'after'] as const) {
        const { run, output } = await play(of, { at: new Map([[at, { kind: 'kill', when }]]) });
        expect([run.state, JSON.parse(output ?? 'null')], `${when} ${at}`).toEqual(['SUCCEEDED', expected]);
      }
    }
  });

  it('stopped in the middle, leaves no child and no item behind, at whatever await a pass dies or freezes', {
    timeout: 240_000,
  }, async () => {
    const slow: Scenario = { ...of, script: () => ok({}, 400_000), stopAtMs: 450_000 };
    const length = (await play(slow)).world.trace.operations.length;
    for (let at = 0; at < length + 3; at++) {
      for (const when of ['before', 'after'] as const) {
        for (const fault of [{ kind: 'kill', when } as const, { kind: 'freeze', when, forMs: 200_000 } as const]) {
          const { run, children, world } = await play(slow, { at: new Map([[at, fault]]) });
          const states = new Set([run, ...children].map(({ state }) => state));
          expect([...states], `${fault.kind} ${when} ${at}`).toEqual(['ABORTED']);
          const isOpen = [...world.executions.started.values()].some(({ status }) => status === 'RUNNING');
          expect(isOpen, `${fault.kind} ${when} ${at}`).toBe(false);
        }
      }
    }
  });
});
