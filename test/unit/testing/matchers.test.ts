import { describe, expect, it } from 'vitest';
import type { PipelineDefinition } from '#domain/definition.ts';
import { fails, type StubsByName, testPipeline } from '#testing/index.ts';
import '../../../src/testing/vitest.ts';

const PAIR: PipelineDefinition = {
  name: 'pair',
  nodes: [
    { id: 'load', params: { function: 'load' } },
    { id: 'report', dependsOn: ['load'], params: { function: 'report' } },
  ],
};

const play = (functions: StubsByName) => testPipeline(PAIR, { functions });

describe('the matchers', () => {
  it('match what happened', async () => {
    const good = await play({ load: 1, report: 2 });
    expect(good).toHaveSucceeded();
    expect(good).not.toHaveFailed();
    expect(good).toHaveStarted('report', 1);
    const bad = await play({ load: fails('Gone'), report: 2 });
    expect(bad).toHaveFailed();
    expect(bad).toHaveFailed('load', 'Gone');
    expect(bad).not.toHaveFailed('report');
    expect(bad).not.toHaveFailed('load', 'Busy');
    expect(bad).toHaveNodeStates({ load: 'FAILED', report: 'UPSTREAM_FAILED' });
    expect(bad).not.toHaveStarted('report');
  });

  it('say what happened where they do not', async () => {
    const bad = await play({ load: fails('Gone', 'no such table'), report: 2 });
    expect(() => expect(bad).toHaveSucceeded()).toThrow(
      /expected that the run succeeds\n\nThe run of pair is FAILED \(NodeFailed\): .*\n {2}load .*Gone: no such table/,
    );
    expect(() => expect(bad).toHaveNodeStates({ load: 'FAILED', report: 'SKIPPED', other: 'FAILED' })).toThrow(
      'expected the nodes report SKIPPED, other FAILED (there is no such node)\n',
    );
    expect(() => expect(bad).toHaveStarted('load', 2)).toThrow('that node "load" starts 2 times (it started 1 time)');
    expect(() => expect(bad).not.toHaveFailed('load', 'Gone')).toThrow('not to be so');
  });
});
