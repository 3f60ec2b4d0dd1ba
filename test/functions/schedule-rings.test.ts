import { expect, it } from 'vitest';
import { definitionRevision } from '#authoring/definition-revision.ts';
import type { PipelineDefinition } from '#domain/definition.ts';
import { runPipelinePass } from '#scheduler/pipeline-pass.ts';
import { putPipeline } from '#scheduler/put-pipeline.ts';
import { createInstallation } from './installation.ts';

const DEFINITION: PipelineDefinition = {
  name: 'often',
  schedule: [{ id: 'each-minute', rate: '1 minute' }],
  nodes: [{ id: 'only', params: { function: 'fn' } }],
};

it('a pipeline is rung for its next instant once, however often its passes come', async () => {
  const { deps, time, rungThings } = createInstallation();
  time.now += 5_700;
  await putPipeline(deps, { definition: DEFINITION, revision: definitionRevision(DEFINITION) });
  rungThings.splice(0);
  for (let minute = 0; minute < 5; minute++) {
    // The tick comes shortly before the instant, the ring at the instant; each three times.
    for (const at of [57_000, 3_000]) {
      time.now += at;
      for (let copy = 0; copy < 3; copy++) await runPipelinePass(deps, 'often');
      expect(rungThings.splice(0)).toHaveLength(1);
    }
  }
  expect((await deps.runs.listRuns({ limit: 100 })).items).toHaveLength(5);
});

it('a pipeline whose ring was lost is due at the tick after its instant', async () => {
  const { deps, time } = createInstallation();
  time.now += 5_700;
  await putPipeline(deps, { definition: DEFINITION, revision: definitionRevision(DEFINITION) });
  const put = time.now;
  time.now += 57_000;
  await runPipelinePass(deps, 'often');
  expect((await deps.pipelines.readHead('often'))?.dueAt).toBe(put - 5_700 + 120_000);
});
