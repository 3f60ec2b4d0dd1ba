/** An installation in one thread: the handlers over the memory ports, with a clock that the test moves. */
import type { Context } from 'aws-lambda';
import { createInlineEvaluator } from '#adapters/jsonata/evaluate-template.ts';
import { createMemoryDueIndex } from '#adapters/memory/memory-due-index.ts';
import { createMemoryExecutions, type ExecutionEnd, type MemoryExecution } from '#adapters/memory/memory-executions.ts';
import { createCountingIds } from '#adapters/memory/memory-ids.ts';
import { createMemoryLimitStore } from '#adapters/memory/memory-limit-store.ts';
import { createMemoryLiveStore } from '#adapters/memory/memory-live-store.ts';
import { createMemoryLogs } from '#adapters/memory/memory-logs.ts';
import { createMemoryMemo } from '#adapters/memory/memory-memo.ts';
import { createMemoryPayloads } from '#adapters/memory/memory-payloads.ts';
import { createMemoryPipelineStore } from '#adapters/memory/memory-pipeline-store.ts';
import { createMemoryReports } from '#adapters/memory/memory-reports.ts';
import { createMemoryRunStore } from '#adapters/memory/memory-run-store.ts';
import { DEFAULT_STEP_OPTIONS } from '#domain/draft.ts';
import { isRunOver } from '#domain/run.ts';
import { EVENT_SCHEMAS } from '#http/event-schemas.ts';
import type { ApiDeps } from '#http/route.ts';
import type { BusEvent, DueThing } from '#ports/index.ts';
import { completionOf } from '#scheduler/completion.ts';
import { runPass } from '#scheduler/pass.ts';
import { workThing } from '#scheduler/work-thing.ts';

/** The state machine behind the engine `lambda`. */
export const MACHINE = 'arn:aws:states:eu-central-1:111122223333:stateMachine:millrace-lambda';

/** How an attempt goes: it ends so, or goes on until the test ends it. */
export type Behaviour = (node: string, attempt: number, item?: number) => ExecutionEnd | undefined;

/** A context as Lambda gives it, as far as anybody reads it. */
export const CONTEXT = { awsRequestId: 'invocation', getRemainingTimeInMillis: () => 29_000 } as unknown as Context;

/** Every attempt succeeds with a small output. */
export const SUCCEED: Behaviour = () => ({ status: 'SUCCEEDED', output: '{"ok":true}' });

/** Makes an empty installation. */
export function createInstallation(behave: Behaviour = SUCCEED) {
  const time = { now: Date.UTC(2026, 10, 30, 12) };
  const clock = { now: () => time.now };
  const rings: string[] = [];
  const rungThings: DueThing[] = [];
  const ended: MemoryExecution[] = [];
  const events: BusEvent[] = [];
  const executions = createMemoryExecutions(clock, (execution) => {
    if (execution.status !== 'RUNNING') ended.push(execution);
  });
  const runs = createMemoryRunStore();
  const limits = createMemoryLimitStore();
  const pipelines = createMemoryPipelineStore();
  const live = createMemoryLiveStore();
  const ringThing = async (thing: DueThing) => {
    if (thing.kind === 'run') rings.push(thing.id);
    else rungThings.push(thing);
  };
  const deps: ApiDeps = {
    runs,
    limits,
    pipelines,
    due: createMemoryDueIndex({ run: runs.stored, limit: limits.stored, pipeline: pipelines.stored }),
    memo: createMemoryMemo(),
    reports: createMemoryReports(),
    payloads: createMemoryPayloads(),
    executions,
    inbox: {
      ring: async (runId) => void rings.push(runId),
      ringAbout: async () => {},
      ringThing,
      ringAll: async (things) => {
        for (const thing of things) await ringThing(thing);
      },
    },
    bus: {
      publish: async (published) => {
        for (const { detailType, detail } of published) schemaOf(detailType).parse(detail);
        events.push(...published);
      },
    },
    evaluator: createInlineEvaluator(),
    clock,
    ids: createCountingIds(),
    engines: new Map([['lambda', { stateMachineArn: MACHINE }]]),
    installation: 'millrace',
    options: DEFAULT_STEP_OPTIONS,
    logs: createMemoryLogs(),
    live: { url: 'wss://live.test/live', tickets: live },
    sleep: async (ms) => {
      time.now += ms;
    },
  };

  /** Ends what is running, as the test's behaviour says. */
  const endExecutions = () => {
    for (const execution of executions.started.values()) {
      if (execution.status !== 'RUNNING') continue;
      const { node, attempt, item } = attemptOf(execution);
      const end = behave(node, attempt, item);
      if (end) executions.end(execution.name, end);
    }
  };

  /** Brings rings and ends to passes until nothing is left to bring. */
  const settle = async (rounds = 200) => {
    for (let round = 0; round < rounds && rings.length + rungThings.length + ended.length > 0; round++) {
      time.now += 50;
      for (const thing of rungThings.splice(0)) await workThing(deps, thing);
      for (const runId of new Set(rings.splice(0))) await runPass(deps, runId);
      endExecutions();
      for (const execution of ended.splice(0)) await tellEnd(deps, execution);
    }
  };

  /** Lets a time pass and rings a run, as the tick would. */
  const tick = async (runId: string, ms: number) => {
    time.now += ms;
    rings.push(runId);
    await settle();
  };

  const untilOver = async (runId: string) => {
    for (let tries = 0; tries < 50; tries++) {
      await settle();
      const run = await deps.runs.readRun(runId);
      if (run && isRunOver(run.state)) return run;
      await tick(runId, 60_000);
    }
    throw new Error(`run ${runId} does not end`);
  };

  return { deps, live, time, rings, rungThings, events, executions, settle, tick, untilOver };
}

/** An installation. */
export type Installation = ReturnType<typeof createInstallation>;

/** Which attempt an execution is, by its input. */
export function attemptOf(execution: MemoryExecution): { node: string; attempt: number; item?: number } {
  return (JSON.parse(execution.input) as { millrace: { node: string; attempt: number; item?: number } }).millrace;
}

async function tellEnd(deps: ApiDeps, execution: MemoryExecution): Promise<void> {
  if (execution.status === 'RUNNING') return;
  const told = completionOf(deps.installation, execution.name, {
    status: execution.status,
    startedAt: execution.startedAt,
    endedAt: execution.endedAt ?? execution.startedAt,
    ...(execution.output !== undefined && { output: execution.output }),
  });
  if (told) await runPass(deps, told.run, { completions: [told.completion] });
}

function schemaOf(detailType: BusEvent['detailType']) {
  return EVENT_SCHEMAS[detailType];
}
