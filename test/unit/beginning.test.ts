/** What a new run takes over from an earlier one, as a rule. */
import { describe, expect, it } from 'vitest';
import { type BeginningRequest, beginFrom, placeKey } from '#domain/beginning.ts';
import type { NodeDefinition } from '#domain/definition.ts';
import { type CompiledPipeline, compilePipeline } from '#domain/graph.ts';
import type { NodeCode } from '#domain/node-status.ts';
import type { Decision, MapState, RunRecord } from '#domain/run.ts';
import { packRun, unpackRun } from '#domain/run-codec.ts';
import { newRun } from '../simulation/new-run.ts';

const NOW = 1_800_000_000_000;

function node(id: string, dependsOn: string[] = [], more: Partial<NodeDefinition> = {}): NodeDefinition {
  return { id, dependsOn, params: { function: 'f' }, ...more };
}

function pipelineOf(nodes: NodeDefinition[], revision = 'one'): CompiledPipeline {
  return compilePipeline({ name: 'p', nodes }, revision);
}

/** A finished run: each node was decided at attempt 1, in the commit of its own revision number. */
function finished(pipeline: CompiledPipeline, letters: string, more: Partial<RunRecord> = {}) {
  const run: RunRecord = { ...newRun(pipeline, NOW), state: 'FAILED', nodes: letters, ...more };
  const decisions = [...letters].map((to, at): Decision => {
    const attempt = to === 'S' ? 1 : 0;
    return { at: NOW + at, rev: at + 2, to: to as NodeCode, nodes: [at], attempt };
  });
  return { pipeline, run: { ...run, decisions: [], rev: letters.length + 2 }, decisions };
}

function begin(pipeline: CompiledPipeline, letters: string, request: Partial<BeginningRequest> = {}) {
  const earlier = finished(pipeline, letters);
  return beginFrom(pipeline, { from: 'failed', takesSkips: true, resumesMaps: true, now: NOW, earlier, ...request });
}

//  0 a → 1 b → 3 d → 4 e       0 a → 2 c → 3 d
const NODES = [node('a'), node('b', ['a']), node('c', ['a']), node('d', ['b', 'c']), node('e', ['d'])];

describe('what runs again', () => {
  const pipeline = pipelineOf(NODES);
  it.each([
    ['nothing that failed', 'SSSSS', 'SSSSS'],
    ['what failed, and what is below it', 'SFSUU', 'SpSpp'],
    ['what was stopped', 'SSAAA', 'SSppp'],
    ['a timeout, a loss, a mark', 'STLUU', 'Spppp'],
    ['what was skipped below what failed', 'SFSkk', 'SpSpp'],
    ['a skip that stands', 'SKSkk', 'SKSkk'],
    ['a success below what failed', 'SFSSS', 'SpSpp'],
  ])('from failed: %s', (_what, letters, wanted) => {
    expect(begin(pipeline, letters).nodes).toBe(wanted);
  });

  it.each([
    ['the last', [4], 'SSSSS', 'SSSSp'],
    ['one in the middle', [1], 'SSSSS', 'SpSpp'],
    ['one beside a failure', [1], 'SSFUU', 'Spppp'],
    ['one above a failure', [4], 'SSFUU', 'SSppp'],
    ['nothing', [], 'SSFUU', 'SSNNN'],
  ])('from chosen nodes: %s', (_what, chosen, letters, wanted) => {
    expect(begin(pipeline, letters, { from: new Set(chosen) }).nodes).toBe(wanted);
  });

  it('of a partial start, what it left out stays out until it is named', () => {
    expect(begin(pipeline, 'SFNNN').nodes).toBe('SpNNN');
    expect(begin(pipeline, 'SSNNN', { from: 'all' }).nodes).toBe('ppNNN');
    expect(begin(pipeline, 'SSNNN', { from: new Set([2]) }).nodes).toBe('SSppp');
  });

  it('takes over successes alone for a partial start', () => {
    const request = { takesSkips: false, only: new Set([3]), from: new Set([3]) };
    expect(begin(pipeline, 'SSKkk', request).nodes).toBe('SSppN');
    expect(begin(pipeline, 'SSSSS', request).nodes).toBe('SSSpN');
    const { earlier: _none, ...alone } = { ...request, earlier: undefined };
    expect(beginFrom(pipeline, { ...alone, now: NOW }).nodes).toBe('ppppN');
  });
});

describe('another revision', () => {
  const before = pipelineOf(NODES);
  const revised = (change: (one: NodeDefinition) => NodeDefinition) => {
    const after = pipelineOf(NODES.map(change), 'two');
    const earlier = finished(before, 'SSSSS');
    const { nodes } = beginFrom(after, { from: 'failed', takesSkips: true, now: NOW, earlier });
    return Object.fromEntries(after.nodes.map(({ id, index }) => [id, nodes[index]]));
  };
  const only = (id: string, more: Partial<NodeDefinition>) => (one: NodeDefinition) =>
    one.id === id ? { ...one, ...more } : one;

  it.each<[string, Partial<NodeDefinition>]>([
    ['engine', { engine: 'spark' }],
    ['params', { params: { function: 'g' } }],
    ['trigger', { trigger: 'all_done' }],
    ['when', { when: '{% true %}' }],
    ['map', { map: { items: [1] } }],
    ['branch', { branch: "{% 'd' %}" }],
    ['dependsOn', { dependsOn: [] }],
  ])('runs a node whose %s changed, and all below it', (_field, more) => {
    expect(revised(only('b', more))).toEqual({ a: 'S', b: 'p', c: 'S', d: 'p', e: 'p' });
  });

  it('takes over what only its tries, its turn or its cache changed of', () => {
    const more = { retry: { maxAttempts: 3 }, timeoutSeconds: 7, priority: 3, pool: 'x', cache: { key: 'k' } };
    expect(revised(only('b', more))).toEqual({ a: 'S', b: 'S', c: 'S', d: 'S', e: 'S' });
  });

  it('follows nodes to their new places', () => {
    const after = pipelineOf([node('new'), ...[...NODES].reverse()], 'two');
    const { results, nodes } = beginFrom(after, { from: 'failed', now: NOW, earlier: finished(before, 'SSSSF') });
    const place = (id: string) => after.indexOf.get(id) as number;
    expect([nodes[place('new')], nodes[place('e')], nodes[place('a')]]).toEqual(['p', 'p', 'S']);
    expect(results.get(placeKey({ node: 1, attempt: 1 }))).toEqual({ node: place('b'), attempt: 0 });
    expect(results.has(placeKey({ node: 4, attempt: 1 }))).toBe(false);
  });
});

describe('a map that lacks items', () => {
  const pipeline = pipelineOf([node('gen'), node('m', ['gen'], { map: { items: '{% $nodes.gen.output %}' } })]);
  const total = 6;
  const list: MapState = { node: 1, total, next: 5, succeeded: 3, failed: 2, list: 'items-x' };
  const earlier = finished(pipeline, 'SF', { maps: [list] });
  const items: Decision[] = [
    { at: NOW, rev: 3, to: 'S', nodes: [1], items: [0, 2, 4], attempt: 1 },
    { at: NOW, rev: 3, to: 'F', nodes: [1], items: [1, 3], attempt: 2 },
  ];
  const request = { from: 'failed' as const, takesSkips: true, resumesMaps: true, now: NOW };
  const known = { ...earlier, decisions: [...earlier.decisions, ...items] };

  it('goes on with those that did not succeed', () => {
    const beginning = beginFrom(pipeline, { ...request, earlier: known });
    expect(beginning.nodes).toBe('Sm');
    const map = { node: 1, total, next: 1, succeeded: 3, failed: 0, list: 'items-x', ahead: [2, 4] };
    expect(beginning.maps).toEqual([map]);
    expect(beginning.lists).toEqual([{ key: 'items-x', total }]);
    expect(beginning.results.get(placeKey({ node: 1, item: 4, attempt: 1 }))).toEqual({ node: 1, item: 4, attempt: 0 });
    const run = { ...earlier.run, ...beginning, decisions: [...beginning.decisions] };
    expect(unpackRun(packRun(run))).toMatchObject({ maps: [map], decisions: beginning.decisions });
  });

  it('runs whole where it is named, where something above it runs, and on another input', () => {
    const nodesOf = (more: Partial<BeginningRequest>) =>
      beginFrom(pipeline, { ...request, earlier: known, ...more }).nodes;
    expect(nodesOf({ from: new Set([1]) })).toBe('Sp');
    expect(nodesOf({ from: new Set([0]) })).toBe('pp');
    expect(nodesOf({ resumesMaps: false })).toBe('Sp');
    expect(nodesOf({ marks: [{ node: 0, state: 'SUCCEEDED', at: NOW }] })).toBe('pp');
  });
});

describe('the largest run', () => {
  it('is looked at in time linear in its nodes, with one decision for all that were decided alike', () => {
    const nodes = Array.from({ length: 10_000 }, (_, at) => node(`n${at}`, at === 0 ? [] : [`n${at - 1}`]));
    const began = performance.now();
    const pipeline = pipelineOf(nodes);
    const letters = `${'S'.repeat(9_000)}F${'U'.repeat(999)}`;
    const { decisions, results, nodes: after } = begin(pipeline, letters);
    expect([decisions.length, results.size]).toEqual([1, 9_000]);
    expect(after).toBe(`${'S'.repeat(9_000)}${'p'.repeat(1_000)}`);
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
