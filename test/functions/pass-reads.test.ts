/** How often a pass asks the store: figures that a bill depends on. */
import { describe, expect, it, vi } from 'vitest';
import type { PipelineDefinition } from '#domain/definition.ts';
import { runPass } from '#scheduler/pass.ts';
import { startRun } from '#scheduler/start-run.ts';
import { createInstallation, SUCCEED } from './installation.ts';

async function started(nodes: PipelineDefinition['nodes'], behave = SUCCEED) {
  const installation = createInstallation(behave);
  const { deps, time } = installation;
  const head = { name: 'p', incarnation: 'i', revision: 'rev1', version: 1, createdAt: time.now, updatedAt: time.now };
  await deps.pipelines.putDefinition('p', 'i', 'rev1', { name: 'p', nodes }, time.now);
  await deps.pipelines.commitHead(head, 0);
  const outcome = await startRun(deps, { pipeline: 'p', input: { day: 1 }, trigger: { type: 'api' } });
  if (outcome.kind !== 'started') throw new Error(outcome.kind);
  return { ...installation, run: outcome.run };
}

const node = (id: string, dependsOn: readonly string[] = []) => ({ id, dependsOn, params: { function: 'f' } });
const WIDTH = 40;
const middle = Array.from({ length: WIDTH }, (_, at) => `m${at}`);

describe('a run of many nodes', () => {
  it('reads its input once, and the results of a wide join with one call', async () => {
    const { deps, executions, run, untilOver } = await started([
      node('first'),
      ...middle.map((id) => node(id, ['first'])),
      node('last', middle),
    ]);
    const readValue = vi.spyOn(deps.runs, 'readValue');
    const listResults = vi.spyOn(deps.runs, 'listResults');
    expect((await untilOver(run.id)).state).toBe('SUCCEEDED');
    expect(readValue).toHaveBeenCalledTimes(1);
    expect(listResults.mock.calls).toEqual([[expect.objectContaining({ id: run.id }), undefined, expect.any(Number)]]);
    const join = [...executions.started.values()].at(-1);
    const { payload } = JSON.parse(join?.input ?? '{}').params;
    expect(payload.input).toEqual({ day: 1 });
    expect(Object.keys(payload.upstream).sort()).toEqual([...middle].sort());
  });

  it('reads the few results that a node of a large run needs, and no others', async () => {
    const beside = middle.map((id) => node(id));
    const { deps, run, untilOver } = await started([...beside, node('pair', ['m0', 'm1'])]);
    const listResults = vi.spyOn(deps.runs, 'listResults');
    await untilOver(run.id);
    expect(listResults.mock.calls.length).toBeLessThanOrEqual(2);
    for (const call of listResults.mock.calls) expect(call).toHaveLength(2);
  });
});

describe('a pass that loses against another', () => {
  it('reads the run again, and stores the same result only once', async () => {
    const { deps, executions, run, settle } = await started([node('a'), node('b', ['a'])], () => undefined);
    await settle();
    const [execution] = [...executions.started.values()];
    if (execution === undefined) throw new Error('nothing was started');
    const putResult = vi.spyOn(deps.runs, 'putResult');
    vi.spyOn(deps.runs, 'commitRun').mockResolvedValueOnce('conflict').mockResolvedValueOnce('conflict');
    const [, , nonce = '', index = '', attempt = ''] = execution.name.split('-');
    const completion = {
      nonce,
      node: Number(index),
      attempt: Number(attempt),
      status: 'SUCCEEDED' as const,
      output: '1',
      startedAt: deps.clock.now(),
      endedAt: deps.clock.now(),
    };
    const outcome = await runPass(deps, run.id, { completions: [completion] });
    expect(outcome.kind).toBe('done');
    expect(putResult).toHaveBeenCalledTimes(1);
    expect([...executions.started.values()]).toHaveLength(2);
  });
});

describe('a completion of another run of the same id', () => {
  it('is stored under its own nonce, and changes nothing', async () => {
    const { deps, run, settle } = await started([node('a')], () => undefined);
    await settle();
    const before = await deps.runs.readRun(run.id);
    const at = deps.clock.now();
    const foreign = { nonce: 'zzzzzzzz', node: 0, attempt: 1, status: 'SUCCEEDED' as const, output: '1' };
    await runPass(deps, run.id, { completions: [{ ...foreign, startedAt: at, endedAt: at }] });
    expect(await deps.runs.readRun(run.id)).toEqual(before);
    expect(await deps.runs.listResults(run)).toEqual([]);
  });
});
