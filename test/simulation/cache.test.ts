/** Memoisation, played by the real pass in simulated worlds that share a memo. */
import { describe, expect, it } from 'vitest';
import { createInlineEvaluator } from '#adapters/jsonata/evaluate-template.ts';
import { createMemoryMemo } from '#adapters/memory/memory-memo.ts';
import type { NodeDefinition } from '#domain/definition.ts';
import type { Memo } from '#ports/index.ts';
import { type Faults, type Script, World } from './world.ts';

function node(id: string, dependsOn: string[] = [], more: Partial<NodeDefinition> = {}): NodeDefinition {
  return { id, dependsOn, params: { function: 'f', payload: {} }, ...more };
}

function ok(output: unknown): Script {
  return { durationMs: 1_000, end: { status: 'SUCCEEDED', output: JSON.stringify(output) } };
}

/** Plays a run of a pipeline whose second node is cached. */
async function play(
  memo: Memo,
  cached: Partial<NodeDefinition>,
  script: (id: string, attempt: number, item?: number) => Script = (id, _, item) => ok(`${id}${item ?? ''}`),
  faults: Faults = {},
) {
  const nodes = [node('gen'), node('c', ['gen'], cached), node('z', ['c'])];
  const output = '{% $nodes.c.output %}';
  const evaluator = createInlineEvaluator();
  const world = new World(
    { name: 'cache', definition: { name: 'cache', nodes, output }, evaluator, memo, script },
    faults,
  );
  await world.play();
  const run = world.runs.latest(world.run?.id ?? '');
  const executions = world.trace.starts.map(({ name }) => name.split('-')[3]);
  return { run, executions, output: run.outputKey && (await world.runs.readValue(run, run.outputKey)), world };
}

const byOutput = { cache: { key: '{% $nodes.gen.output %}', ttlSeconds: 3_600 } };

describe('a node with a cache', () => {
  it('runs once, and a later run with the same key takes its output', async () => {
    const memo = createMemoryMemo();
    const first = await play(memo, byOutput);
    expect([first.run.nodes, first.output, first.executions]).toEqual(['SSS', '"c"', ['0', '1', '2']]);
    const second = await play(memo, byOutput, (id) => ok(id === 'c' ? 'never run' : id));
    expect([second.run.nodes, second.output, second.executions]).toEqual(['SCS', '"c"', ['0', '2']]);
  });

  it('is remembered once, though its end is acknowledged by a commit of its own', async () => {
    const definition = { name: 'cache', nodes: [node('c', [], { cache: { key: 'k', ttlSeconds: 3_600 } })] };
    const world = new World({ name: 'cache', definition, evaluator: createInlineEvaluator() });
    await world.play();
    const kept = world.trace.operations.filter((operation) => operation.includes(' memo.write'));
    expect([world.runs.latest(world.run?.id ?? '').state, kept.length]).toEqual(['SUCCEEDED', 1]);
  });

  it('runs again with another key, or once its time is over', async () => {
    const memo = createMemoryMemo();
    await play(memo, byOutput);
    expect((await play(memo, byOutput, (id) => ok(id === 'gen' ? 'other' : id))).run.nodes).toBe('SSS');
    const brief = { cache: { key: 'brief', ttlSeconds: 1 } };
    await play(memo, brief);
    const later: Memo = { ...memo, read: (key, now) => memo.read(key, now + 10_000) };
    expect((await play(later, brief)).run.nodes).toBe('SSS');
  });

  it('chooses its branch by the output that was known', async () => {
    const memo = createMemoryMemo();
    const branching = { ...byOutput, branch: '{% $output.next %}' };
    const script = (next: unknown) => (id: string) => ok(id === 'c' ? { next } : id);
    expect((await play(memo, branching, script([]))).run.nodes).toBe('SSB');
    expect((await play(memo, branching, script('z'))).run.nodes).toBe('SCB');
  });

  it('remembers no failure', async () => {
    const memo = createMemoryMemo();
    const broken: Script = {
      durationMs: 1_000,
      end: { status: 'FAILED', error: { name: 'Broken', message: 'told so' } },
    };
    await play(memo, byOutput, (id) => (id === 'c' ? broken : ok(id)));
    expect((await play(memo, byOutput)).run.nodes).toBe('SSS');
  });

  it('in a map, is known item by item', async () => {
    const memo = createMemoryMemo();
    const mapped = (items: string[]) => ({ map: { items }, cache: { key: '{% $item %}', ttlSeconds: 3_600 } });
    await play(memo, mapped(['a', 'b']));
    const { run, executions, output } = await play(memo, mapped(['b', 'c', 'a']));
    expect([run.nodes, output, executions]).toEqual(['SSS', '["c1","c1","c0"]', ['0', '1_1', '2']]);
  });

  it('ends right at whatever await a pass dies, whether the output was known or not', async () => {
    const filled = createMemoryMemo();
    await play(filled, byOutput);
    const { world } = await play(filled, byOutput);
    for (let at = 0; at < world.trace.operations.length + 3; at++) {
      for (const when of ['before', 'after'] as const) {
        const faults: Faults = { at: new Map([[at, { kind: 'kill', when }]]) };
        const known = await play(filled, byOutput, undefined, faults);
        expect([known.run.nodes, known.output], `${when} ${at}`).toEqual(['SCS', '"c"']);
        const unknown = await play(createMemoryMemo(), byOutput, undefined, faults);
        expect([unknown.run.nodes, unknown.output], `${when} ${at}`).toEqual(['SSS', '"c"']);
      }
    }
  });
});
