import { expect, it } from 'vitest';
import { definitionRevision } from '#authoring/definition-revision.ts';
import type { PipelineDefinition } from '#domain/definition.ts';
import { withChildRuns } from '#scheduler/child-runs.ts';
import { commandRun } from '#scheduler/command-run.ts';
import { runPass } from '#scheduler/pass.ts';
import { putPipeline } from '#scheduler/put-pipeline.ts';
import { startRun } from '#scheduler/start-run.ts';
import { createInstallation } from '../functions/installation.ts';

const PARENT: PipelineDefinition = {
  name: 'parent',
  nodes: [{ id: 'below', engine: 'pipeline', params: { pipeline: 'child' } }],
};
const CHILD: PipelineDefinition = { name: 'child', nodes: [{ id: 'work', params: { function: 'fn' } }] };

it('a child that is made after its parent gave the attempt up ends before it begins', async () => {
  const installation = createInstallation(() => undefined);
  const deps = withChildRuns(installation.deps);
  for (const definition of [PARENT, CHILD])
    await putPipeline(deps, { definition, revision: definitionRevision(definition) });
  const started = await startRun(deps, { pipeline: 'parent', trigger: { type: 'api' } });
  if (started.kind !== 'started') throw new Error(started.kind);
  await commandRun(deps, started.run.id, 'stop');
  const { id: run, nonce } = started.run;
  const late = await startRun(deps, {
    pipeline: 'child',
    trigger: { type: 'pipeline', runId: run },
    child: { parent: { run, nonce, node: 0, attempt: 1 }, depth: 1 },
  });
  if (late.kind !== 'started') throw new Error(late.kind);
  await runPass(deps, late.run.id);
  expect(await deps.runs.readRun(late.run.id)).toMatchObject({ state: 'ABORTED' });
  expect([...installation.executions.starts]).toEqual([]);
});
