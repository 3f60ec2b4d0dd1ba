/** The testing kit's fault worlds: the same end whatever goes wrong, or an error that says how to see it again. */
import { describe, expect, it } from 'vitest';
import type { PipelineDefinition } from '#domain/definition.ts';
import { drawFaults, FAULT_KINDS, kindsOf } from '#testing/fault-options.ts';
import { FaultWorldError, later, type StubsByName, type TestOptions, testPipeline } from '#testing/index.ts';

const FIVE: PipelineDefinition = {
  name: 'five',
  nodes: [
    { id: 'a', params: { function: 'echo', payload: '{% $run.input %}' } },
    { id: 'b', dependsOn: ['a'], params: { function: 'flaky' }, retry: { maxAttempts: 3, intervalSeconds: 5 } },
    { id: 'c', dependsOn: ['a'], map: { items: [1, 2, 3] }, params: { function: 'echo', payload: '{% $item %}' } },
    { id: 'ask', dependsOn: ['b'], engine: 'approval', params: { prompt: 'Go on?' } },
    { id: 'd', dependsOn: ['c', 'ask'], engine: 'spark', pool: 'db' },
  ],
  output: '{% $nodes.c.output %}',
};

const OPTIONS: TestOptions = {
  input: { n: 1 },
  functions: {
    echo: (payload: unknown) => payload,
    flaky: (_payload: unknown, { attempt }: { attempt: number }) => {
      if (attempt < 3) throw new Error('not yet');
      return 'at last';
    },
  },
  engines: { spark: later(90_000, 'done') },
  answers: { ask: { approve: true } },
  limits: { engines: { spark: 1 }, pools: { db: 1 } },
};

/** A stub that counts over all worlds: the second run of a pipeline is not like the first. */
function remembering(): StubsByName {
  let calls = 0;
  return {
    echo: () => {
      calls += 1;
      return calls;
    },
  };
}

const ONE: PipelineDefinition = { name: 'one', nodes: [{ id: 'a', params: { function: 'echo' } }] };

describe('worlds with faults', () => {
  it('come to the same as one without', async () => {
    const outcome = await testPipeline(FIVE, { ...OPTIONS, faults: 'all' });
    expect(outcome).toMatchObject({ state: 'SUCCEEDED', output: [1, 2, 3], faultWorlds: 50 });
  });

  it.each(FAULT_KINDS)('come to the same with %s alone', async (kind) => {
    const outcome = await testPipeline(FIVE, { ...OPTIONS, faults: { [kind]: true, runs: 10 } });
    expect(outcome.faultWorlds).toBe(10);
  });

  it('are drawn by their seed, and hold what was asked for', () => {
    for (const kind of FAULT_KINDS) {
      const kinds = kindsOf({ [kind]: true });
      const faults = drawFaults(kinds, 1, 20);
      expect(drawFaults(kinds, 1, 20).at).toEqual(faults.at);
      const isAnything = (faults.at?.size ?? 0) > 0 || Object.keys(faults).length > 2;
      expect(isAnything, kind).toBe(true);
    }
    expect(kindsOf({})).toEqual(FAULT_KINDS);
    expect(kindsOf({ kill: false })).not.toContain('kill');
  });

  it('say what came out otherwise, and how to see it again', async () => {
    const failing = testPipeline(ONE, { functions: remembering(), faults: { kill: true, seed: 12 } });
    await expect(failing).rejects.toThrow(FaultWorldError);
    await expect(failing).rejects.toMatchObject({ seed: 12 });
    await expect(failing).rejects.toThrow(
      'node "a" was SUCCEEDED with 2, and SUCCEEDED with 1 where nothing went wrong',
    );
    await expect(failing).rejects.toThrow('this world again: faults: { …, seed: 12, runs: 1 }');
  });

  it('compare as much as they are told to', async () => {
    const faults = { compare: 'states', runs: 3 } as const;
    expect((await testPipeline(ONE, { functions: remembering(), faults })).faultWorlds).toBe(3);
  });

  it('get new stubs each where those are made by a function', async () => {
    const functions = () => {
      let calls = 0;
      return {
        echo: () => {
          calls += 1;
          return calls;
        },
      };
    };
    expect((await testPipeline(ONE, { functions, faults: { runs: 3 } })).faultWorlds).toBe(3);
  });
});
