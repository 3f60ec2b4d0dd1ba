/** Executions that go on though they were told to stop: given up after a grace, but only by looks that were answered. */
import { describe, expect, it } from 'vitest';
import { DEFAULT_STEP_OPTIONS } from '#domain/draft.ts';
import { compilePipeline } from '#domain/graph.ts';
import type { RunRecord } from '#domain/run.ts';
import { step } from '#domain/step.ts';

const STOPPED_AT = 1_800_000_000_000;
const pipeline = compilePipeline({ name: 'deaf', nodes: [{ id: 'a', params: { function: 'f' } }] }, 'r');

/** A run that was told to stop, with one execution under way. */
const stopping: RunRecord = {
  schemaVersion: 1,
  id: 'a'.repeat(26),
  pipeline: 'deaf',
  revision: 'r',
  nonce: 'b'.repeat(8),
  secret: 's',
  rev: 3,
  state: 'STOPPING',
  reason: 'Stopping',
  since: STOPPED_AT,
  createdAt: STOPPED_AT - 60_000,
  trigger: { type: 'api' },
  tags: [],
  inputHash: 'h',
  nodes: 'r',
  machines: ['arn:aws:states:us-east-1:000000000000:stateMachine:lambda'],
  flights: [
    {
      node: 0,
      attempt: 1,
      phase: 'stopping',
      startedAt: STOPPED_AT - 50_000,
      since: STOPPED_AT,
      pollAt: STOPPED_AT + 60_000,
      polls: 0,
      machine: 0,
      confirmed: true,
      ending: 'Stopped',
    },
  ],
  stop: { kind: 'user', at: STOPPED_AT },
  decisions: [],
  announced: { rev: 3, state: 'STOPPING' },
};

/** What becomes of a run of which looks find the execution running, so long after the stop (s each). */
function afterLooks(seconds: readonly number[]): RunRecord {
  return seconds.reduce((run, after) => {
    const now = STOPPED_AT + after * 1000;
    const facts = { engines: new Map(), observations: [{ node: 0, attempt: 1, seen: 'running' as const }] };
    return step(pipeline, run, facts, { now, readAt: now }, DEFAULT_STEP_OPTIONS).run;
  }, stopping);
}

describe('an execution that goes on though it was told to stop', () => {
  it('C44 is given up after its grace, and the run ends and says so', () => {
    const run = afterLooks([60, 120, 400, 601]);
    expect(run).toMatchObject({ state: 'ABORTED', nodes: 'A', flights: [] });
    expect(run.decisions).toContainEqual(
      expect.objectContaining({ to: 'A', error: expect.objectContaining({ name: 'Millrace.StopUnconfirmed' }) }),
    );
  });

  it('is not given up by the first answer after an outage longer than the grace', () => {
    expect(afterLooks([1_200])).toMatchObject({ state: 'STOPPING', nodes: 'r' });
    expect(afterLooks([1_200, 1_260, 1_320])).toMatchObject({ state: 'STOPPING' });
    expect(afterLooks([1_200, 1_260, 1_320, 1_380])).toMatchObject({ state: 'ABORTED' });
  });
});
