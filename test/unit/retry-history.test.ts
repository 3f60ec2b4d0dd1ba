import { describe, expect, it } from 'vitest';
import type { RetryDefinition } from '#domain/definition.ts';
import type { Facts } from '#domain/facts.ts';
import { compilePipeline } from '#domain/graph.ts';
import { mergeDecisions, tellStories } from '#domain/node-story.ts';
import type { RunRecord } from '#domain/run.ts';
import { step } from '#domain/step.ts';

const CREATED = Date.UTC(2026, 10, 30);
const ENGINES = new Map([['lambda', { stateMachineArn: 'arn:aws:states:eu-central-1:111122223333:stateMachine:m' }]]);
const FAILED = { node: 0, attempt: 1, status: 'FAILED', startedAt: CREATED, endedAt: CREATED + 500 } as const;

const queued: RunRecord = {
  schemaVersion: 1,
  id: 'a'.repeat(26),
  pipeline: 'p',
  revision: 'r',
  nonce: 'b'.repeat(8),
  secret: 's',
  rev: 1,
  state: 'QUEUED',
  reason: 'Starting',
  since: CREATED,
  createdAt: CREATED,
  trigger: { type: 'api' },
  tags: [],
  inputHash: 'h',
  nodes: 'p',
  machines: [],
  flights: [],
  decisions: [],
  announced: { rev: 0, state: 'QUEUED' },
};

/** One step at a time, every expression giving an empty object. */
function stepOn(retry: RetryDefinition, run: RunRecord, facts: Partial<Facts>, ms: number): RunRecord {
  const pipeline = compilePipeline({ name: 'p', nodes: [{ id: 'a', retry }] }, 'r');
  const clock = { now: CREATED + ms, readAt: CREATED + ms };
  const asked = step(pipeline, run, { engines: ENGINES, ...facts }, clock);
  const evaluations = new Map(asked.wanted.map(({ key }) => [key, { ok: true, value: {} }] as const));
  return step(pipeline, run, { engines: ENGINES, ...facts, evaluations }, clock).run;
}

/** A run of one node whose first attempt fails, and what comes together with its failure. */
function failedWith(retry: RetryDefinition, more: Partial<Facts>): RunRecord {
  return stepOn(retry, stepOn(retry, queued, {}, 0), { results: [FAILED], ...more }, 1000);
}

function endsOfAttempts(run: RunRecord): (string | undefined)[] {
  const [story] = tellStories(run, mergeDecisions([], run));
  return (story?.attempts ?? []).map(({ end }) => end?.to);
}

describe('the history of a node that is retried', () => {
  it('keeps the end of an attempt that failed in the step that stopped the run', () => {
    const run = failedWith({ maxAttempts: 3 }, { command: { kind: 'stop' } });
    expect(run).toMatchObject({ state: 'ABORTED', nodes: 'A' });
    expect(endsOfAttempts(run)).toEqual(['w']);
  });

  it('keeps the end of an attempt that failed in the step that started the next one', () => {
    const run = failedWith({ maxAttempts: 3, intervalSeconds: 0 }, {});
    expect(run).toMatchObject({ nodes: 'r', flights: [{ attempt: 2 }] });
    expect(endsOfAttempts(run)).toEqual(['w', undefined]);
  });
});
