/**
 * A world in one thread for the real scheduler: a stage with memory adapters, users and other systems on it.
 *
 * What may happen to port calls is in `src/testing/faults.ts`, what must hold after each in `invariants.ts`.
 */

import { createMemoryDueIndex } from '#adapters/memory/memory-due-index.ts';
import { createMemoryExecutions, type MemoryExecution } from '#adapters/memory/memory-executions.ts';
import { createCountingIds } from '#adapters/memory/memory-ids.ts';
import { createMemoryLimitStore } from '#adapters/memory/memory-limit-store.ts';
import { createMemoryMemo } from '#adapters/memory/memory-memo.ts';
import { createMemoryPayloads, type MemoryPayloads } from '#adapters/memory/memory-payloads.ts';
import { createMemoryPipelineStore } from '#adapters/memory/memory-pipeline-store.ts';
import { createMemoryReports } from '#adapters/memory/memory-reports.ts';
import type { PipelineDefinition } from '#domain/definition.ts';
import { type CompiledPipeline, compilePipeline } from '#domain/graph.ts';
import { type LimitRecord, newLimit, parseLimitName } from '#domain/limit.ts';
import type { RunRecord } from '#domain/run.ts';
import { NewerRunError } from '#domain/run-codec.ts';
import type { BusEvent, Evaluator, Memo, PipelineStore } from '#ports/index.ts';
import { DecidedTooLongAgoError } from '#scheduler/start-run.ts';
import { ExecutionEnds } from '#testing/execution-ends.ts';
import { type Faults, InjectedFailure } from '#testing/faults.ts';
import { createFlakyExecutions, readInput } from '#testing/flaky-executions.ts';
import { type Gate, type Happening, machineArn, Stage, type StagePorts } from '#testing/stage.ts';
import { CodeOfAttempts } from './code-of-attempts.ts';
import { checkFinally } from './final-invariants.ts';
import { InvariantError } from './invariant-error.ts';
import { checkNow } from './invariants.ts';
import { newRun } from './new-run.ts';
import { Requests } from './requests.ts';
import { actsOf, BEGINNING, builtInEngines, type Scenario, type Script, type Trace } from './scenario.ts';
import { Users } from './users.ts';
import { createWatchedRuns } from './watched-runs.ts';

export type { Faults } from '#testing/faults.ts';
export type { Scenario, Script, Trace } from './scenario.ts';

/** What a batch says of a message that is none: it goes to the dead letters. */
const UNREADABLE = 'a message of the inbox cannot be read';
const HOUR_MS = 3_600_000;

export class World extends Stage {
  readonly trace: Trace = {
    operations: [],
    events: [],
    told: [],
    starts: [],
    heads: [],
    pauses: [],
    inputs: new Map(),
    deliveries: 0,
    invocations: 0,
  };
  readonly pipeline: CompiledPipeline;
  readonly runs = createWatchedRuns();
  readonly limits = createMemoryLimitStore();
  readonly pipelines;
  /** Heads of pipelines as they are stored, by name. */
  readonly heads;
  private readonly due;
  readonly memo: Memo;
  readonly reports = createMemoryReports();
  readonly payloads: MemoryPayloads;
  private readonly ids = createCountingIds();
  readonly executions;
  readonly scenario: Scenario;
  run: RunRecord | undefined;
  private readonly flaky;
  private readonly ends: ExecutionEnds;
  readonly users: Users;
  readonly requests: Requests;
  readonly code: CodeOfAttempts;
  private loans: { readonly run: string; readonly until: number }[] = [];
  private readonly compiled = new Map<string, CompiledPipeline>();
  private forgetAt: number | undefined;

  constructor(scenario: Scenario, faults: Faults = {}) {
    super(faults, scenario.options ?? {}, BEGINNING);
    this.scenario = scenario;
    this.memo = scenario.memo ?? createMemoryMemo();
    this.payloads = scenario.payloads ?? createMemoryPayloads();
    this.pipeline = this.compile(scenario.definition, 'rev1');
    this.users = new Users(
      this,
      actsOf(scenario, (definition, revision) => this.compile(definition, revision)),
    );
    this.requests = new Requests(this);
    this.code = new CodeOfAttempts(this);
    const pipelines = createMemoryPipelineStore();
    this.heads = pipelines.stored;
    this.pipelines = this.watchedPipelines(pipelines);
    this.due = createMemoryDueIndex({
      run: this.runs.stored,
      limit: this.limits.stored,
      pipeline: pipelines.stored,
    });
    const now = () => this.now;
    const engineClock = { now: () => this.now + (scenario.engineClockMs ?? 0) };
    this.executions = createMemoryExecutions(engineClock, (execution) => this.onExecution(execution));
    this.ends = new ExecutionEnds(() => this.executions, now);
    this.flaky = createFlakyExecutions(this.executions, {
      faults,
      now,
      beganAt: this.beganAt,
      isRefused: ({ run, node, item, attempt }) =>
        scenario.script?.(node, attempt, item, undefined, this.runs.latest(run))?.isRefused === true,
      onStart: (name, input) => this.noteStart(name, input),
    });
  }

  /** Creates the run and plays until it is over and nothing is left to do, or `maxTicks` have passed. */
  async play(maxTicks = HOUR_MS / this.options.tickMs): Promise<void> {
    const { definition, children = [] } = this.scenario;
    for (const one of [definition, ...children]) await this.putPipeline(one);
    for (const [name, slots] of this.scenario.slots ?? []) await this.limits.commitLimit(limitOf(name, slots), 0);
    this.run = newRun(this.pipeline, this.now);
    await this.runs.putValue(this.run, 'input', '{}');
    await this.runs.createRun(this.run);
    this.mailbox.send(JSON.stringify({ kind: 'ring', run: this.run.id }), 0);
    while (this.ticks < maxTicks && !this.isQuiet()) await this.once();
    await checkFinally(this);
  }

  /** Makes Step Functions forget all executions that run at a time (ms after the world's beginning), without a word. */
  deleteExecutionsAt(afterMs: number): void {
    this.forgetAt = this.now + afterMs;
  }

  /** The revision that a run plays. */
  pipelineOf({ pipeline, revision }: Pick<RunRecord, 'pipeline' | 'revision'>): CompiledPipeline {
    return this.compiled.get(`${pipeline}/${revision}`) as CompiledPipeline;
  }

  private compile(definition: PipelineDefinition, revision: string): CompiledPipeline {
    const pipeline = compilePipeline(definition, revision);
    this.compiled.set(`${pipeline.name}/${revision}`, pipeline);
    return pipeline;
  }

  /** Pipelines in memory, with a note of when each revision became the newest. */
  private watchedPipelines(inner: PipelineStore): PipelineStore {
    return {
      ...inner,
      commitHead: async (head, expectedVersion) => {
        const outcome = await inner.commitHead(head, expectedVersion);
        const { name, revision } = head;
        const isNew = !this.trace.heads.some((one) => one.name === name && one.revision === revision);
        if (outcome !== 'committed') return outcome;
        const cursors = new Map(head.cursors?.map(([entry, { createdAt }]) => [entry, createdAt]));
        if (isNew) this.trace.heads.push({ name, revision, at: this.now, cursors });
        this.notePause(name, head.paused !== undefined);
        return outcome;
      },
    };
  }

  private notePause(name: string, isPaused: boolean): void {
    const open = this.trace.pauses.findIndex((pause) => pause.name === name && pause.until === undefined);
    const [known] = open === -1 ? [] : this.trace.pauses.slice(open, open + 1);
    if (isPaused && !known) this.trace.pauses.push({ name, from: this.now });
    if (!isPaused && known) this.trace.pauses[open] = { ...known, until: this.now };
  }

  /** Newer code has a run for so long (ms): the code here leaves it alone. */
  lend(run: string, forMs: number): void {
    if (this.runs.text(run) === undefined || this.loans.some((loan) => loan.run === run)) return;
    this.runs.lendToNewerCode(run);
    this.loans.push({ run, until: this.now + forMs });
  }

  private takeBack(): void {
    for (const { run } of this.loans.filter(({ until }) => until <= this.now)) {
      const isLeftAlone = this.runs.takeBack(run);
      if (!isLeftAlone) throw new InvariantError(this, `run ${run} was changed while newer code had it`);
      // Whatever newer code did last, it left the run due, or somebody to ring it.
      this.mailbox.send(JSON.stringify({ kind: 'ring', run }), 0);
    }
    this.loans = this.loans.filter(({ until }) => until > this.now);
  }

  private async putPipeline(definition: PipelineDefinition): Promise<void> {
    const { name } = this.compile(definition, 'rev1');
    await this.pipelines.putDefinition(name, 'incarnation', 'rev1', definition, this.now);
    const times = { createdAt: this.now, updatedAt: this.now };
    await this.pipelines.commitHead({ name, incarnation: 'incarnation', revision: 'rev1', version: 1, ...times }, 0);
  }

  /** Whether nothing is left to happen. */
  isQuiet(): boolean {
    if (!this.isIdle()) return false;
    if ([...this.heads.values()].some(({ dueAt }) => dueAt !== undefined)) return false;
    if ([...this.limits.stored.values()].some(({ dueAt }) => dueAt !== undefined)) return false;
    return this.runs.all().every((run) => run.dueAt === undefined);
  }

  protected override happenings(): readonly Happening[] {
    const forgetAt = this.forgetAt ?? Number.POSITIVE_INFINITY;
    const forgetting: Happening = {
      isBusy: () => false,
      nextAt: () => forgetAt,
      act: () => (forgetAt <= this.now ? this.forget() : undefined),
    };
    const loans: Happening = {
      isBusy: () => this.loans.length > 0,
      nextAt: () => Math.min(...this.loans.map(({ until }) => until)),
      act: () => this.takeBack(),
    };
    return [this.ends, forgetting, loans, this.users, this.requests, this.code];
  }

  private forget(): void {
    this.forgetAt = undefined;
    for (const [key, execution] of this.executions.started) {
      if (execution.status === 'RUNNING') this.executions.started.delete(key);
    }
    this.ends.forgetAll();
  }

  /** Only what the world itself made to fail may fail. */
  override onTrouble(what: string, error: unknown): void {
    if (error instanceof InjectedFailure || what === UNREADABLE) return;
    // Who slept for too long since a start was decided starts nothing, and comes again.
    if (error instanceof NewerRunError || error instanceof DecidedTooLongAgoError) return;
    this.breaks(`${what}: ${error instanceof Error ? error.stack : String(error)}`);
  }

  protected override errorOf(what: string): InvariantError {
    return new InvariantError(this, what);
  }

  protected override portsOf(gate: Gate, what: string): StagePorts {
    const publish = async (events: readonly BusEvent[]) => {
      for (const event of events) (event.detailType === 'RunChanged' ? this.trace.events : this.trace.told).push(event);
    };
    return {
      runs: gate('runs', this.runs),
      limits: gate('limits', this.limits),
      // Revisions are read once a process, which a world does not play unless pipelines are what it is about.
      pipelines: what === 'put' || this.scenario.watchesPipelines ? gate('pipelines', this.pipelines) : this.pipelines,
      due: gate('due', this.due),
      memo: gate('memo', this.memo),
      reports: gate('reports', this.reports),
      payloads: gate('payloads', this.payloads),
      executions: gate('executions', this.flaky),
      bus: gate('bus', { publish }),
      evaluator: gate('evaluator', this.scenario.evaluator ?? NO_EVALUATOR),
      ids: this.ids,
      engines: new Map(builtInEngines(this.scenario).map((name) => [name, { stateMachineArn: machineArn(name) }])),
      installation: 'sim',
    };
  }

  override check(): void {
    checkNow(this);
  }

  private noteStart(name: string, input: string): void {
    const known = this.trace.inputs.get(name);
    if (known) known.add(input);
    else this.trace.inputs.set(name, new Set([input]));
  }

  private onExecution(execution: MemoryExecution): void {
    if (execution.status !== 'RUNNING') {
      this.ends.forget(execution);
      this.code.end(execution);
      this.mailbox.tellEnd(execution);
      return;
    }
    const { run, node, item, attempt, payload } = readInput(execution.input);
    this.trace.starts.push({ name: execution.name, at: this.now });
    this.mailbox.tellStrangers(execution);
    const { durationMs, end, reportsAtMs } =
      this.scenario.script?.(node, attempt, item, payload, this.runs.latest(run)) ?? DEFAULT_SCRIPT;
    if (reportsAtMs) this.code.begin(execution, reportsAtMs);
    this.ends.plan({ at: this.now + durationMs, execution, end });
  }
}

/** A limit that is there from the beginning. */
function limitOf(name: string, slots: number): LimitRecord {
  const limit = { ...newLimit(name, slots), rev: 1 };
  const { kind, name: engine } = parseLimitName(name);
  if (kind !== 'engine') return limit;
  const registered = { generation: 1, stateMachineArn: machineArn(engine), labels: [], updatedAt: 0 };
  return { ...limit, engine: registered, generations: 1, toldStatus: 'Available' };
}

const DEFAULT_SCRIPT: Script = { durationMs: 1_000, end: { status: 'SUCCEEDED', output: '{}' } };

const NO_EVALUATOR: Evaluator = {
  evaluate: async () => {
    throw new Error('no expression in these scenarios');
  },
};
