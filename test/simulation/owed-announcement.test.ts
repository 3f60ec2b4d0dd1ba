/** What a commit of a run that is over owes to be published, and nobody has, stays due whatever is committed next. */
import { describe, expect, it } from 'vitest';
import type { Facts, LimitFact } from '#domain/facts.ts';
import { compilePipeline } from '#domain/graph.ts';
import type { RunRecord } from '#domain/run.ts';
import { step } from '#domain/step.ts';
import { newRun } from './new-run.ts';

const CREATED = Date.UTC(2026, 10, 30);
const TURNS = 'pipeline/p';
const PIPELINE = compilePipeline({ name: 'p', concurrency: { maxActiveRuns: 1 }, nodes: [{ id: 'a' }] }, 'r');

/** A run that was stopped while it waited for its turn; its end was published. */
const OVER: RunRecord = {
  ...newRun(PIPELINE, CREATED),
  rev: 3,
  state: 'ABORTED',
  reason: 'Stopped',
  since: CREATED + 1_000,
  startedAt: CREATED + 1_000,
  endedAt: CREATED + 1_000,
  nodes: 'A',
  stop: { kind: 'user', at: CREATED + 1_000 },
  announced: { rev: 3, state: 'ABORTED' },
};

function stepOn(run: RunRecord, facts: Partial<Facts>): RunRecord {
  const clock = { now: CREATED + 5_000, readAt: CREATED + 5_000 };
  return step(PIPELINE, run, { engines: new Map(), ...facts }, clock).run;
}

function turns(fact: Partial<LimitFact>): Partial<Facts> {
  return {
    limits: new Map([[TURNS, { status: 'open', isUnlimited: false, free: 0, granted: 1, returned: 0, ...fact }]]),
  };
}

describe('a run that is over, and is granted a turn too late', () => {
  it('gives it back, and that revision stays due until it is published', () => {
    const given = stepOn(OVER, turns({}));
    expect(given).toMatchObject({ rev: 4, announced: { rev: 3 }, dueAt: expect.any(Number) });
    const told = stepOn(given, { ...turns({ returned: 1 }), told: new Map([[TURNS, { row: undefined }]]) });
    expect(told).toMatchObject({ rev: 4, announced: { rev: 3 }, dueAt: expect.any(Number) });
    const announced = stepOn(told, { announced: true });
    expect(announced).toMatchObject({ rev: 4, announced: { rev: 4 } });
    expect(announced.dueAt).toBeUndefined();
  });
});
