/** What the benches reckon from what they counted. */
import { describe, expect, it } from 'vitest';
import { parseDefinition } from '#domain/definition-schema.ts';
import { createWireLog } from '#local/wire-log.ts';
import { toTable } from '../../bench/report.ts';
import { bareTransitions } from '../../bench/scenarios/bare-step-functions.ts';
import { billOf } from '../../bench/scenarios/bill.ts';
import { definitionOf, limited, type Scenario } from '../../bench/scenarios/scenario.ts';
import { chainOf, fanOf, layersOf, mapOf, randomOf } from '../../bench/scenarios/shapes.ts';
import { without } from '../../bench/scenarios/wire-sum.ts';

describe('bareTransitions', () => {
  it.each<[string, Scenario, number]>([
    ['a task for each node of a line', chainOf(50), 50],
    ['each of several runs', chainOf(10, 20), 200],
    ['a Parallel state for what is beside one another', fanOf(200), 203],
    ['one in each layer', layersOf(1_000), 1_010],
    ['a Map state, its items, and the nodes around it', mapOf(200), 203],
  ])('counts %s', (_, scenario, transitions) => {
    expect(bareTransitions(scenario)).toBe(transitions);
  });

  it('puts a node below its longest way, in whatever order the nodes are given', () => {
    const nodes = [
      { id: 'last', dependsOn: ['first', 'middle'] },
      { id: 'middle', dependsOn: ['first'] },
      { id: 'first' },
    ];
    expect(bareTransitions({ name: 'x', nodes, runs: 1, executions: 3 })).toBe(3);
  });
});

describe('scenarios', () => {
  it.each([chainOf(3), fanOf(3), layersOf(300), mapOf(3), randomOf(300), limited(mapOf(3), 10)])(
    'are definitions that may be put: $name',
    (scenario) => {
      expect(parseDefinition(definitionOf(scenario))).toMatchObject({ ok: true });
    },
  );

  it('are the same each time', () => {
    expect(randomOf(300)).toEqual(randomOf(300));
  });
});

describe('billOf', () => {
  it('adds logs and our own functions, and neither those of users nor storage', () => {
    const wire = createWireLog();
    wire.count('writeUnits', 1e6);
    wire.count('transitions', 1e6);
    wire.invocation('noop', { billedMs: 1e9, memoryMb: 1024 });
    wire.call('lambda', 'millrace-scheduler', 1e6);
    const logged = { bytes: 0, lines: 0, commits: 0, lostCommits: 0 };
    const counted = { cpuMs: 0, workersAtOnce: 1, logged, storedBytes: 1e9, seconds: 1 };
    const bill = billOf({ scenario: chainOf(50), wire: wire.snapshot(), ...counted });
    expect(bill).toMatchObject({
      dynamodb: expect.closeTo(0.625, 6),
      // A million invocations, each waiting 40 ms for services at half a GB.
      lambda: expect.closeTo(0.2 + 0.04 * 0.5 * 13.3334, 3),
      messages: 0,
      logs: expect.closeTo((1e6 * (300 + 3 * 26) * 0.5) / 1e9, 6),
      storageMonth: expect.closeTo(0.45, 6),
      bare: expect.closeTo((50 * 25) / 1e6, 9),
    });
    expect(bill.allIn - bill.overStepFunctions).toBeCloseTo(25, 6);
  });
});

describe('without', () => {
  it('takes away quantities and calls of what happened several times', () => {
    const [all, look] = [createWireLog(), createWireLog()];
    all.count('readUnits', 10);
    all.call('dynamodb', 'GetItem', 5);
    all.call('states', 'StartExecution', 3);
    look.count('readUnits', 2);
    look.call('dynamodb', 'GetItem');
    expect(without(all.snapshot(), look.snapshot(), 3)).toMatchObject({
      readUnits: 4,
      writeUnits: 0,
      calls: { dynamodb: { GetItem: 2 }, states: { StartExecution: 3 } },
    });
  });
});

describe('toTable', () => {
  it('puts what is compared side by side, and marks what is above its aim', () => {
    const cell = { what: 'write units', table: 'per node', decimals: 2, most: 2.2, aim: '≤ 2.2' };
    const figures = [
      { ...cell, column: 'chain', values: [2.3] },
      { ...cell, column: 'fan', values: [1.2] },
    ];
    const bench = { name: 'counters', title: '', run: async () => [] };
    expect(toTable([{ bench, figures }]).split('\n')).toEqual([
      'counters: per node (✗: an aim is missed)',
      '',
      '|             |  chain |  fan | aim   |',
      '|-------------|-------:|-----:|-------|',
      '| write units | 2.30 ✗ | 1.20 | ≤ 2.2 |',
    ]);
  });
});
