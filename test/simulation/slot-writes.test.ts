/** Runs in line for the same slots, a slot for each node: what that costs, and that nothing of it is lost by a death. */
import { describe, expect, it } from 'vitest';
import type { NodeDefinition } from '#domain/definition.ts';
import { type OperationFault, toText } from '#testing/faults.ts';
import type { Scenario } from './scenario.ts';
import { type Faults, World } from './world.ts';

const BREAKS: readonly OperationFault[] = [
  { kind: 'kill', when: 'after' },
  { kind: 'freeze', when: 'after', forMs: 100_000 },
];

/** So many runs of so many nodes in a line, on an engine with so few slots that every slot changes runs. */
function inLine(runs: number, nodes: number, slots: number): Scenario {
  const line = Array.from({ length: nodes }, (_, at): NodeDefinition => {
    return { id: `n${at}`, engine: 'slow', params: {}, ...(at > 0 && { dependsOn: [`n${at - 1}`] }) };
  });
  const users = Array.from({ length: runs - 1 }, (_, at) => [
    { atMs: 10 + at, kind: 'start' as const, pipeline: 'line', key: `k${at}` },
  ]);
  const script = () => ({ durationMs: 500, end: { status: 'SUCCEEDED' as const, output: '{}' } });
  return { name: 'line', definition: { name: 'line', nodes: line }, script, slots: [['engine/slow', slots]], users };
}

async function play(scenario: Scenario, faults: Faults = {}) {
  const world = new World(scenario, faults);
  await world.play();
  const made = (call: string) => world.trace.operations.filter((operation) => operation.includes(call)).length;
  const rows = [...world.limits.waiting.values()].reduce((count, ofLimit) => count + ofLimit.size, 0);
  return { world, made, rows, states: world.runs.all().map(({ state }) => state) };
}

describe('a slot that changes runs with every node', () => {
  it('costs one commit of the run, a row and its removal more than none, and few commits of the limit', async () => {
    const [runs, nodes] = [6, 8];
    const { made, rows, states } = await play(inLine(runs, nodes, 3));
    expect(states).toEqual(Array.from({ length: runs }, () => 'SUCCEEDED'));
    expect(made('limits.putWaiting')).toBeLessThanOrEqual(runs * nodes);
    expect(made('limits.removeWaiting')).toBeLessThanOrEqual(runs * nodes);
    expect(rows).toBe(0);
    // Beside two a node: the first pass, the announcements of start and end, and what others were quicker with.
    expect(made('runs.commitRun')).toBeLessThanOrEqual(2 * runs * nodes + 4 * runs);
    expect(made('limits.commitLimit')).toBeLessThanOrEqual(1.2 * runs * nodes);
  });

  it('C106 is not lost by a death or a long sleep at any await, nor is its row left', async () => {
    const scenario = inLine(2, 2, 1);
    const { length } = (await play(scenario)).world.trace.operations;
    for (let at = 0; at < length; at++) {
      for (const fault of BREAKS) {
        const { states, rows } = await play(scenario, { at: new Map([[at, fault]]) });
        expect([states, rows], `${toText(fault)} ${at}`).toEqual([['SUCCEEDED', 'SUCCEEDED'], 0]);
      }
    }
  });
});
