import { describe, expect, it } from 'vitest';
import { createMemoryDueIndex } from '#adapters/memory/memory-due-index.ts';
import { createMemoryExecutions } from '#adapters/memory/memory-executions.ts';
import { createCountingIds } from '#adapters/memory/memory-ids.ts';
import { createMemoryLimitStore } from '#adapters/memory/memory-limit-store.ts';
import { createMemoryMemo } from '#adapters/memory/memory-memo.ts';
import { createMemoryPayloads } from '#adapters/memory/memory-payloads.ts';
import { createMemoryPipelineStore } from '#adapters/memory/memory-pipeline-store.ts';
import { createMemoryReports } from '#adapters/memory/memory-reports.ts';
import { createMemoryRunStore } from '#adapters/memory/memory-run-store.ts';
import { DEFAULT_STEP_OPTIONS } from '#domain/draft.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { startRun } from '#scheduler/start-run.ts';
import { createHandler } from '../../functions/scheduler/handler.ts';

const NOW = 1_800_000_000_000;
const REVISION = 'rev1';

async function createScheduler() {
  const rung: string[] = [];
  const counted: string[] = [];
  const troubles: string[] = [];
  const time = { now: NOW };
  const clock = { now: () => time.now };
  const runs = createMemoryRunStore();
  const limits = createMemoryLimitStore();
  const pass: PassDeps = {
    runs,
    limits,
    pipelines: createMemoryPipelineStore(),
    due: createMemoryDueIndex({ run: runs.stored, limit: limits.stored }),
    memo: createMemoryMemo(),
    reports: createMemoryReports(),
    payloads: createMemoryPayloads(),
    executions: createMemoryExecutions(clock),
    inbox: {
      ring: async (run) => void rung.push(run),
      ringAbout: async (run) => void rung.push(run),
      ringThing: async ({ kind, id }) => void rung.push(`${kind} ${id}`),
      ringAll: async (things) => void rung.push(...things.map(({ kind, id }) => `${kind} ${id}`)),
    },
    bus: { publish: async () => {} },
    evaluator: { evaluate: async () => [] },
    clock,
    ids: createCountingIds(),
    engines: new Map([['lambda', { stateMachineArn: 'arn:aws:states:us-east-1:000000000000:stateMachine:lambda' }]]),
    installation: 'millrace',
    options: DEFAULT_STEP_OPTIONS,
  };
  const definition = { name: 'p', nodes: [{ id: 'a', params: { function: 'f', payload: {} } }] };
  await pass.pipelines.putDefinition('p', 'i', REVISION, definition, NOW);
  await pass.pipelines.commitHead(
    { name: 'p', incarnation: 'i', revision: REVISION, version: 1, createdAt: NOW, updatedAt: NOW },
    0,
  );
  const logger = { info: () => {}, error: (what: string) => void troubles.push(what) };
  const handler = createHandler({ pass, logger, count: (name) => void counted.push(name) });
  const handle = (event: unknown) => handler(event, {} as never);
  const batch = (...bodies: unknown[]) =>
    handle({
      Records: bodies.map((body, at) => ({
        messageId: `m${at}`,
        body: typeof body === 'string' ? body : JSON.stringify(body),
      })),
    });
  const start = async () => {
    const started = await startRun(pass, { pipeline: 'p', trigger: { type: 'api' } });
    if (started.kind !== 'started') throw new Error(started.kind);
    return started.run;
  };
  return { pass, rung, counted, troubles, handle, batch, start, time };
}

describe('the scheduler function', () => {
  it('T6 T33 starts a run that a ring names, and ends it by the event of its execution', async () => {
    const { pass, batch, start } = await createScheduler();
    const run = await start();
    expect(await batch({ kind: 'ring', run: run.id })).toEqual({ batchItemFailures: [] });
    const name = `millrace-${run.id}-${run.nonce}-0-1`;
    await batch({ kind: 'execution', name, arn: 'x', status: 'SUCCEEDED', output: '1', startDate: NOW, stopDate: NOW });
    expect((await pass.runs.readRun(run.id))?.state).toBe('SUCCEEDED');
  });

  it('folds many messages of one run into one pass', async () => {
    const { pass, batch, start } = await createScheduler();
    const run = await start();
    await batch(...Array.from({ length: 10 }, () => ({ kind: 'ring', run: run.id })));
    expect((await pass.runs.readRun(run.id))?.rev).toBe(2);
  });

  it('drops and counts an event of its own, should a rule let one through', async () => {
    const { counted, batch } = await createScheduler();
    const echo = { source: 'millrace.scheduler', 'detail-type': 'RunChanged', detail: {} };
    expect(await batch(echo)).toEqual({ batchItemFailures: [] });
    expect(counted).toEqual(['OwnEventDropped']);
  });

  it('takes rings of limits and pipelines, and gives back those of nothing that there is', async () => {
    const { batch, troubles } = await createScheduler();
    const rings = [{ limit: 'engine/spark' }, { pipeline: 'p' }, { limit: 'spark' }, { limit: 5 }, { engine: 'spark' }];
    const outcome = await batch(...rings.map((ring) => ({ kind: 'ring', ...ring })));
    expect(outcome.batchItemFailures.map((failure) => failure.itemIdentifier)).toEqual(['m2', 'm3', 'm4']);
    expect(troubles).toHaveLength(3);
  });

  it('U8 asks for bad messages again without harm to the good ones beside them', async () => {
    const { pass, troubles, batch, start } = await createScheduler();
    const run = await start();
    const outcome = await batch('{', { kind: 'what' }, { kind: 'ring', run: run.id }, { kind: 'ring' });
    expect(outcome.batchItemFailures.map((failure) => failure.itemIdentifier)).toEqual(['m0', 'm1', 'm3']);
    expect(troubles).toHaveLength(3);
    expect((await pass.runs.readRun(run.id))?.state).toBe('RUNNING');
  });

  it('T27 forgets messages about runs that do not exist, and about executions that are not ours', async () => {
    const { batch } = await createScheduler();
    const foreign = {
      kind: 'execution',
      name: 'millrace-other',
      arn: 'x',
      status: 'FAILED',
      output: null,
      startDate: 1,
      stopDate: 2,
    };
    expect(await batch({ kind: 'ring', run: 'z'.repeat(26) }, foreign)).toEqual({ batchItemFailures: [] });
  });

  it('T7 C98 a damaged run harms no other', async () => {
    const { pass, batch, start } = await createScheduler();
    const damaged = await start();
    const good = await start();
    const { stored } = pass.runs as ReturnType<typeof createMemoryRunStore>;
    const packed = stored.get(damaged.id);
    if (packed) stored.set(damaged.id, { ...packed, body: '{"damaged":true}' });
    const outcome = await batch({ kind: 'ring', run: damaged.id }, { kind: 'ring', run: good.id });
    expect(outcome.batchItemFailures).toEqual([{ itemIdentifier: 'm0' }]);
    expect((await pass.runs.readRun(good.id))?.state).toBe('RUNNING');
  });

  it('rings what is due at a tick', async () => {
    const { pass, rung, handle, start, time } = await createScheduler();
    const run = await start();
    const tickAt = NOW + DEFAULT_STEP_OPTIONS.tickMs;
    await pass.limits.commitLimit({ name: 'engine/spark', rev: 1, holders: [], dueAt: tickAt }, 0);
    await pass.limits.commitLimit({ name: 'engine/later', rev: 1, holders: [], dueAt: tickAt + 1 }, 0);
    rung.length = 0;
    time.now = tickAt;
    await handle({ kind: 'tick' });
    expect(rung.toSorted()).toEqual(['limit engine/spark', `run ${run.id}`]);
  });
});
