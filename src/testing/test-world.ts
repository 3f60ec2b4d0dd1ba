/** A stage with one run of a pipeline under test on it, and stubs for everything that it calls. */
import { createInlineEvaluator } from '#adapters/jsonata/evaluate-template.ts';
import { createMemoryDueIndex } from '#adapters/memory/memory-due-index.ts';
import { createMemoryExecutions, type MemoryExecution } from '#adapters/memory/memory-executions.ts';
import { createCountingIds } from '#adapters/memory/memory-ids.ts';
import { createMemoryLimitStore } from '#adapters/memory/memory-limit-store.ts';
import { createMemoryMemo } from '#adapters/memory/memory-memo.ts';
import { createMemoryPayloads } from '#adapters/memory/memory-payloads.ts';
import { createMemoryPipelineStore } from '#adapters/memory/memory-pipeline-store.ts';
import { createMemoryReports } from '#adapters/memory/memory-reports.ts';
import { createMemoryRunStore } from '#adapters/memory/memory-run-store.ts';
import { definitionRevision } from '#authoring/definition-revision.ts';
import type { PipelineDefinition } from '#domain/definition.ts';
import { type CompiledPipeline, compilePipeline } from '#domain/graph.ts';
import { isRunOver, type RunRecord } from '#domain/run.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { putEngine } from '#scheduler/engines.ts';
import { putPool } from '#scheduler/pools.ts';
import { putPipeline } from '#scheduler/put-pipeline.ts';
import { inputErrorsInWords, type StartRequest, startRun } from '#scheduler/start-run.ts';
import { ApprovalAnswers, type ApprovalReplies } from './approval-answers.ts';
import { ExecutionEnds } from './execution-ends.ts';
import { type Faults, InjectedFailure } from './faults.ts';
import { createFlakyExecutions } from './flaky-executions.ts';
import { type Gate, type Happening, machineArn, Stage, type StagePorts } from './stage.ts';
import { StubCalls, type Stubs } from './stub-calls.ts';
import { UNREGISTERED } from './stubs.ts';
import { unpackOnce } from './unpack-once.ts';
import { type UserAct, UserActs } from './user-acts.ts';

/** Compiled expressions are kept by the evaluator: all worlds of a process share it. */
const evaluator = createInlineEvaluator();

/** What is played. */
export interface Play {
  /** Virtual time of its beginning (ms since the epoch). */
  readonly beganAt: number;
  /** The pipeline that is tested, then those that it starts. */
  readonly pipelines: readonly [PipelineDefinition, ...PipelineDefinition[]];
  readonly start: Omit<StartRequest, 'pipeline'>;
  readonly answers: ReadonlyMap<string, ApprovalReplies>;
  readonly acts: readonly UserAct[];
  /** Slots of engines and pools, by name. */
  readonly slots: { readonly engines: ReadonlyMap<string, number>; readonly pools: ReadonlyMap<string, number> };
}

/** A run that could not be started. */
export class StartRefusedError extends Error {
  constructor(why: string) {
    super(`the run cannot be started: ${why}`);
    this.name = 'StartRefusedError';
  }
}

/** The world of one test. */
export class TestWorld extends Stage {
  /** As many as the largest pipelines need: what bounds a test is its time limit. */
  override readonly mostOperations = Number.POSITIVE_INFINITY;
  readonly trace = { operations: [] as string[], deliveries: 0, invocations: 0 };
  readonly calls: StubCalls;
  readonly runs;
  private readonly stored = createMemoryRunStore();
  private readonly limits = createMemoryLimitStore();
  private readonly pipelines = createMemoryPipelineStore();
  private readonly due = createMemoryDueIndex({
    run: this.stored.stored,
    limit: this.limits.stored,
    pipeline: this.pipelines.stored,
  });
  private readonly memo = createMemoryMemo();
  private readonly reports = createMemoryReports();
  private readonly payloads = createMemoryPayloads();
  private readonly ids = createCountingIds();
  private readonly executions = createMemoryExecutions({ now: () => this.now }, (one) => this.onExecution(one));
  private readonly flaky;
  private readonly ends = new ExecutionEnds(
    () => this.executions,
    () => this.now,
  );
  private readonly answers: ApprovalAnswers;
  private readonly users: UserActs;
  private runId = '';
  private readonly compiled: ReadonlyMap<string, CompiledPipeline>;
  private readonly engineOf: ReadonlyMap<string, string>;
  private readonly play: Play;

  constructor(play: Play, stubs: Stubs, faults: Faults) {
    super(faults, {}, play.beganAt);
    this.play = play;
    this.runs = {
      ...this.stored,
      all: () => [...this.stored.stored.values()].map(unpackOnce),
      readRun: async (id: string) => {
        const text = this.stored.stored.get(id);
        return text && unpackOnce(text);
      },
    };
    this.compiled = new Map(play.pipelines.map((one) => [one.name, compilePipeline(one, definitionRevision(one))]));
    const registered = [...stubs.engines].flatMap(([name, stub]) => (stub === UNREGISTERED ? [] : [name]));
    this.engineOf = new Map([...registered, 'lambda'].map((name) => [machineArn(name), name]));
    this.calls = new StubCalls(this, stubs, this.ends);
    this.answers = new ApprovalAnswers(this, play.answers);
    this.users = new UserActs(this, play.acts, () => this.runId);
    this.flaky = createFlakyExecutions(this.executions, {
      faults,
      now: () => this.now,
      beganAt: this.beganAt,
      isRefused: () => false,
      onStart: () => {},
    });
  }

  /**
   * Plays the run until it is over and told, nothing can move it any more, or the time is over.
   * @param timeLimitMs virtual
   * @returns its id
   * @throws StartRefusedError
   */
  async playRun(timeLimitMs: number): Promise<string> {
    this.runId = await this.begin();
    const until = this.beganAt + timeLimitMs;
    while (!this.isOver() && this.now < until && this.canMove()) {
      await this.calls.settled();
      await this.once();
    }
    return this.runId;
  }

  /** What a look at the world needs. */
  lookDeps(): PassDeps {
    return this.calmDeps();
  }

  /** Name of the pipeline of a run. */
  pipelineOf(run: string): string {
    return this.runs.all().find(({ id }) => id === run)?.pipeline ?? '';
  }

  /** Id of a node of a run. */
  nodeOf({ pipeline }: RunRecord, index: number): string {
    return this.compiled.get(pipeline)?.nodes[index]?.id ?? '';
  }

  override check(): void {}

  /** Only what was made to fail may fail. */
  override onTrouble(what: string, error: unknown): void {
    if (error instanceof InjectedFailure) return;
    this.breaks(`${what}: ${error instanceof Error ? error.stack : String(error)}`);
  }

  protected override errorOf(what: string): Error {
    return new Error(what);
  }

  protected override happenings(): readonly Happening[] {
    return [this.ends, this.calls, this.answers, this.users];
  }

  /** The first tick that finds something due: those before it would find nothing. */
  protected override tickAt(): number {
    const next = super.tickAt();
    const stores = [this.stored, this.limits, this.pipelines];
    const dueAt = Math.min(...stores.flatMap(({ stored }) => stored.dueTimes(Number.POSITIVE_INFINITY)[0] ?? []));
    const { tickMs } = this.options;
    return next + Math.ceil(Math.max(0, dueAt - next) / tickMs) * tickMs;
  }

  protected override portsOf(gate: Gate): StagePorts {
    return {
      runs: gate('runs', this.runs),
      limits: gate('limits', this.limits),
      // Revisions are read once a process.
      pipelines: this.pipelines,
      due: gate('due', this.due),
      memo: gate('memo', this.memo),
      reports: gate('reports', this.reports),
      payloads: gate('payloads', this.payloads),
      executions: gate('executions', this.flaky),
      bus: gate('bus', { publish: async () => {} }),
      evaluator: gate('evaluator', evaluator),
      ids: this.ids,
      engines: new Map(
        [...this.engineOf].flatMap(([stateMachineArn, name]) =>
          this.play.slots.engines.has(name) ? [] : [[name, { stateMachineArn }]],
        ),
      ),
      installation: 'test',
    };
  }

  private async begin(): Promise<string> {
    const deps = this.calmDeps();
    const { pipelines, slots, start } = this.play;
    for (const [stateMachineArn, name] of this.engineOf) {
      const maxConcurrent = slots.engines.get(name);
      if (maxConcurrent === undefined) continue;
      await putEngine(deps, name, { stateMachineArn, maxConcurrent, labels: [] });
    }
    for (const [name, count] of slots.pools) await putPool(deps, name, count);
    for (const one of pipelines) {
      // Nothing starts but the run that is tested, and what that starts.
      const { schedule: _byItself, ...definition } = one;
      await putPipeline(deps, { definition, revision: definitionRevision(one) });
    }
    const outcome = await startRun(deps, { pipeline: pipelines[0].name, ...start });
    if (outcome.kind === 'started') return outcome.run.id;
    throw new StartRefusedError(
      outcome.kind === 'invalidInput' ? `its input is not valid: ${inputErrorsInWords(outcome.errors)}` : outcome.kind,
    );
  }

  /** Whether the run is over, and so is everything that it left to do. */
  private isOver(): boolean {
    const runs = this.runs.all();
    const run = runs.find(({ id }) => id === this.runId);
    if (!run || !isRunOver(run.state) || this.operations.isBusy() || this.mailbox.messages.length > 0) return false;
    return runs.every(({ dueAt }) => dueAt === undefined);
  }

  private canMove(): boolean {
    return this.calls.isBusy() || this.operations.waiting.length > 0 || Number.isFinite(this.nextAt());
  }

  private onExecution(execution: MemoryExecution): void {
    if (execution.status === 'RUNNING') {
      this.mailbox.tellStrangers(execution);
      this.calls.begin(execution, this.engineOf.get(execution.stateMachineArn) ?? '');
      return;
    }
    this.ends.forget(execution);
    this.mailbox.tellEnd(execution);
  }
}
