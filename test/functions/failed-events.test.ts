/** Events of failed executions do not tell the error: it is asked for, once. */
import { expect, it } from 'vitest';
import { type Completion, completionOf } from '#scheduler/completion.ts';
import { runPass } from '#scheduler/pass.ts';
import { createApi } from './api-client.ts';

/** A run of one node whose execution has failed, and the event that says so. */
async function failedRun() {
  const api = createApi(() => undefined);
  await api.put({ name: 'p', nodes: [{ id: 'a', params: { function: 'fn' } }] });
  const { id } = (await api.post('/v1/pipelines/p/runs', {})).body;
  await api.settle(3);
  const [execution] = [...api.executions.started.values()];
  const name = execution?.name ?? '';
  api.executions.end(name, { status: 'FAILED', error: { name: 'Broken', message: 'row 7' } });
  const times = { startedAt: api.time.now - 1_000, endedAt: api.time.now };
  const told = completionOf('millrace', name, { status: 'FAILED', ...times });
  const { describe } = api.executions;
  const answers = { isSilent: false, asked: 0 };
  api.executions.describe = async (...args) => {
    answers.asked += 1;
    return answers.isSilent ? { kind: 'unanswered', message: 'Rate exceeded' } : describe(...args);
  };
  return { ...api, id: id as string, completion: told?.completion as Completion, answers };
}

it('asks once, however often the event came', async () => {
  const { deps, id, completion, answers } = await failedRun();
  const outcome = await runPass(deps, id, { completions: [completion, completion, completion] });
  expect(outcome).toMatchObject({ kind: 'done', unanswered: 0, run: { state: 'FAILED' } });
  expect(answers.asked).toBe(1);
});

it('asks once and lets the message come again where it gets no answer, though a look is due as well', async () => {
  const { deps, id, completion, answers, time } = await failedRun();
  answers.isSilent = true;
  time.now += 10 * 60_000;
  const outcome = await runPass(deps, id, { completions: [completion] });
  expect(outcome).toMatchObject({ kind: 'done', unanswered: 1, run: { state: 'RUNNING' } });
  expect(answers.asked).toBe(1);
  answers.isSilent = false;
  await runPass(deps, id);
  expect((await deps.runs.readRun(id))?.state).toBe('FAILED');
});
