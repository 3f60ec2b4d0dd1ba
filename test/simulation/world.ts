/**
 * A world in one thread for the real scheduler: its batches, passes and ticks over memory adapters, a virtual clock,
 * and a hand on every port call.
 *
 * Each port call of an invocation is an **operation** that waits until the world lets it happen, so the world owns the
 * order of all of them. What it may do to them is in `faults.ts`, what must hold after each in `invariants.ts`.
 */

import { createMemoryDueIndex } from '#adapters/memory/memory-due-index.ts';
import { createMemoryExecutions, type ExecutionEnd, type MemoryExecution } from '#adapters/memory/memory-executions.ts';
import { createCountingIds } from '#adapters/memory/memory-ids.ts';
import { createMemoryLimitStore } from '#adapters/memory/memory-limit-store.ts';
import { createMemoryMemo } from '#adapters/memory/memory-memo.ts';
import { createMemoryPayloads } from '#adapters/memory/memory-payloads.ts';
import { createMemoryPipelineStore } from '#adapters/memory/memory-pipeline-store.ts';
import { createMemoryReports } from '#adapters/memory/memory-reports.ts';
import type { PipelineDefinition } from '#domain/definition.ts';
import type { StepOptions } from '#domain/draft.ts';

import { type CompiledPipeline, compilePipeline } from '#domain/graph.ts';
import { type LimitRecord, newLimit, parseLimitName } from '#domain/limit.ts';
import type { RunRecord } from '#domain/run.ts';
import { NewerRunError } from '#domain/run-codec.ts';
import type { BusEvent, Evaluator, Memo, Payloads, PipelineStore } from '#ports/index.ts';
import { withChildRuns } from '#scheduler/child-runs.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { workBatch } from '#scheduler/inbox-batch.ts';
import { runTick } from '#scheduler/tick.ts';
import { type Faults, InjectedFailure } from '../../src/testing/faults.ts';
import { createFlakyExecutions, readInput } from '../../src/testing/flaky-executions.ts';
import { isEcho, Mailbox, type Message } from '../../src/testing/mailbox.ts';
import { type Invocation, type Operation, Operations } from '../../src/testing/operations.ts';
import { settle } from '../../src/testing/settle.ts';
import { CodeOfAttempts } from './code-of-attempts.ts';
import { checkFinally } from './final-invariants.ts';
import { InvariantError } from './invariant-error.ts';
import { checkNow } from './invariants.ts';
import { newRun } from './new-run.ts';
import { Requests } from './requests.ts';
import { actsOf, builtInEngines, type Scenario, type Script, type Trace } from './scenario.ts';
import { machineArn, Users } from './users.ts';
import { createWatchedRuns } from './watched-runs.ts';

export type { Faults } from '../../src/testing/faults.ts';
export type { Scenario, Script, Trace } from './scenario.ts';

/** What a batch says of a message that is none: it goes to the dead letters. */
const UNREADABLE = 'a message of the inbox cannot be read';
const TOO_OLD = /^pipeline \S+ was read too long ago$/;
/** Time limit of a pass in the world (ms). */
const PASS_MS = 30_000;
const TICK_MS = 60_000;
/** Messages of a batch, and passes at once, at most. */
const BATCH_SIZE = 10;
const CONCURRENCY = 3;
/** Ticks in a row that may not come. */
const MOST_SKIPPED = 2;
/** How long a call takes at most to take effect, unless it is frozen (ms). */
const LATENCY_MS = 400;

export class World {
  now = 1_800_000_000_000;
  readonly beganAt = this.now;
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
  readonly payloads: Payloads;
  private readonly ids = createCountingIds();
  readonly executions;
  readonly scenario: Scenario;
  readonly faults: Faults;
  readonly options: StepOptions;
  run: RunRecord | undefined;
  ticks = 0;
  private readonly mailbox: Mailbox;
  private readonly operations: Operations;
  private readonly flaky;
  private ends: { readonly at: number; readonly execution: MemoryExecution; readonly end: ExecutionEnd }[] = [];
  private nextTickAt: number;
  readonly users: Users;
  readonly requests: Requests;
  readonly code: CodeOfAttempts;
  private loans: { readonly run: string; readonly until: number }[] = [];
  private readonly compiled = new Map<string, CompiledPipeline>();
  private forgetAt: number | undefined;
  private broken: unknown;
  /** Ticks that did not come, up to now in a row. */
  private skipped = 0;

  constructor(scenario: Scenario, faults: Faults = {}) {
    this.scenario = scenario;
    this.memo = scenario.memo ?? createMemoryMemo();
    this.payloads = scenario.payloads ?? createMemoryPayloads();
    this.faults = faults;
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
    this.options = { ...OPTIONS, ...scenario.options, tickMs: faults.tickMs ?? TICK_MS };
    const now = () => this.now;
    this.mailbox = new Mailbox(faults, now);
    this.operations = new Operations(this);
    const engineClock = { now: () => this.now + (scenario.engineClockMs ?? 0) };
    this.executions = createMemoryExecutions(engineClock, (execution) => this.onExecution(execution));
    this.flaky = createFlakyExecutions(this.executions, {
      faults,
      now,
      beganAt: this.beganAt,
      isRefused: ({ run, node, item, attempt }) =>
        scenario.script?.(node, attempt, item, undefined, this.runs.latest(run))?.isRefused === true,
      onStart: (name, input) => this.noteStart(name, input),
    });
    this.nextTickAt = this.now + this.options.tickMs;
  }

  /** Creates the run and plays until it is over and nothing is left to do, or `maxTicks` have passed. */
  async play(maxTicks = (60 * TICK_MS) / this.options.tickMs): Promise<void> {
    const { definition, children = [] } = this.scenario;
    for (const one of [definition, ...children]) await this.putPipeline(one);
    for (const [name, slots] of this.scenario.slots ?? []) await this.limits.commitLimit(limitOf(name, slots), 0);
    this.run = newRun(this.pipeline, this.now);
    await this.runs.putValue(this.run, 'input', '{}');
    await this.runs.createRun(this.run);
    this.mailbox.send(JSON.stringify({ kind: 'ring', run: this.run.id }), 0);
    while (this.ticks < maxTicks && !this.isQuiet()) {
      await this.once();
      if (this.broken !== undefined) throw this.broken;
    }
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
    if (this.operations.isBusy() || this.mailbox.messages.length > 0) return false;
    if (this.users.isBusy() || this.requests.isBusy() || this.ends.length > 0 || this.loans.length > 0) return false;
    if (this.code.isBusy()) return false;
    if ([...this.heads.values()].some(({ dueAt }) => dueAt !== undefined)) return false;
    if ([...this.limits.stored.values()].some(({ dueAt }) => dueAt !== undefined)) return false;
    return this.runs.all().every((run) => run.dueAt === undefined);
  }

  /** Lets one thing happen. */
  private async once(): Promise<void> {
    const { choose } = this.faults;
    const late = this.operations.waiting.find((operation) => this.now - operation.issuedAt >= LATENCY_MS);
    if (late) return this.operations.operate(late);
    const ready = this.mailbox.ready();
    const { waiting } = this.operations;
    if (waiting.length > 0) {
      if (!choose) return this.operations.operate(waiting[0] as Operation);
      const lot = choose(16);
      const canDeliver = ready.length > 0 && this.operations.alive() < CONCURRENCY;
      if (lot === 0) return this.pass(this.now + 1 + choose(LATENCY_MS));
      if (!canDeliver || lot < 9) return this.operations.operate(waiting[choose(waiting.length)] as Operation);
    }
    if (ready.length === 0) return this.pass();
    return this.deliver(choose ? draw(ready, 1 + choose(BATCH_SIZE), choose) : ready.slice(0, 1));
  }

  /** Nothing more happens now: time goes on to the next thing that will, or to a time before it. */
  private async pass(atMost = Number.POSITIVE_INFINITY): Promise<void> {
    const times = [this.nextTickAt, this.mailbox.nextAt(), this.operations.nextWakeAt(), this.users.nextAt()];
    times.push(...this.ends.map((end) => end.at), ...this.loans.map(({ until }) => until));
    times.push(this.requests.nextAt(), this.code.nextAt());
    if (this.forgetAt !== undefined) times.push(this.forgetAt);
    this.now = Math.max(this.now, Math.min(atMost, ...times));
    await this.operations.wake();
    for (const { execution, end } of this.ends.filter(({ at }) => at <= this.now)) {
      this.executions.end(execution.name, end);
    }
    if (this.forgetAt !== undefined && this.forgetAt <= this.now) this.forget();
    this.takeBack();
    await this.users.act();
    await this.requests.deliver();
    await this.code.report();
    if (this.nextTickAt <= this.now) {
      this.nextTickAt += this.options.tickMs;
      this.ticks += 1;
      if (this.skipsTick()) return;
      await this.invoke({ what: 'tick', messages: [] }, (deps) => runTick(deps));
    }
  }

  private skipsTick(): boolean {
    const { skipsOneIn, choose } = this.faults;
    const isSkipped = skipsOneIn !== undefined && choose?.(skipsOneIn) === 0 && this.skipped < MOST_SKIPPED;
    this.skipped = isSkipped ? this.skipped + 1 : 0;
    return isSkipped;
  }

  private forget(): void {
    this.forgetAt = undefined;
    for (const [key, execution] of this.executions.started) {
      if (execution.status === 'RUNNING') this.executions.started.delete(key);
    }
    this.ends = [];
  }

  private async deliver(messages: Message[]): Promise<void> {
    this.mailbox.hide(messages);
    this.trace.deliveries += messages.length;
    const queued = messages.map(({ body }, at) => ({ messageId: String(at), body }));
    await this.invoke({ what: 'pass', messages }, async (deps) => {
      const { failures, echoes } = await workBatch(deps, queued, (what, error) => this.onTrouble(what, error));
      const own = messages.filter(isEcho).length;
      if (echoes !== own) this.breaks(`of ${own} events of our own, ${echoes} were dropped`);
      messages.forEach((message, at) => {
        if (failures.includes(String(at))) this.mailbox.comesAgain(message);
        else this.mailbox.remove(message);
      });
    });
  }

  /** Only what the world itself made to fail may fail. */
  onTrouble(what: string, error: unknown): void {
    if (error instanceof InjectedFailure || what === UNREADABLE) return;
    // A pass over a pipeline that slept for too long starts nothing, and comes again.
    if (error instanceof NewerRunError || (error instanceof Error && TOO_OLD.test(error.message))) return;
    this.breaks(`${what}: ${error instanceof Error ? error.stack : String(error)}`);
  }

  /** A promise was broken where nothing may be thrown: the world ends. */
  breaks(what: string): void {
    this.broken ??= new InvariantError(this, what);
  }

  /** Calls one of our functions. */
  async invoke(
    of: Pick<Invocation, 'what' | 'messages' | 'onDeath'>,
    work: (deps: PassDeps) => Promise<unknown>,
  ): Promise<void> {
    this.trace.invocations += 1;
    const invocation: Invocation = { ...of, what: `${of.what}${this.trace.invocations}` };
    work(this.depsOf(invocation, of.what)).catch((error: unknown) => this.onTrouble(of.what, error));
    await settle();
  }

  /** An invocation died: its messages come again, its client asks again. */
  onDeath(invocation: Invocation): void {
    for (const message of invocation.messages) this.mailbox.comesAgain(message);
    invocation.onDeath?.();
  }

  private depsOf(invocation: Invocation, what: string): PassDeps {
    const { choose, skewMs } = this.faults;
    const skew = choose && skewMs !== undefined ? choose(2 * skewMs + 1) - skewMs : 0;
    const gate = <T extends object>(name: string, port: T): T => this.operations.gate(invocation, name, port);
    const publish = async (events: readonly BusEvent[]) => {
      for (const event of events) (event.detailType === 'RunChanged' ? this.trace.events : this.trace.told).push(event);
    };
    return withChildRuns({
      runs: gate('runs', this.runs),
      limits: gate('limits', this.limits),
      // Revisions are read once a process, which a world does not play unless pipelines are what it is about.
      pipelines: what === 'put' || this.scenario.watchesPipelines ? gate('pipelines', this.pipelines) : this.pipelines,
      due: gate('due', this.due),
      memo: gate('memo', this.memo),
      reports: gate('reports', this.reports),
      payloads: gate('payloads', this.payloads),
      executions: gate('executions', this.flaky),
      inbox: gate('inbox', this.mailbox.inboxOf(what === 'tick')),
      bus: gate('bus', { publish }),
      evaluator: gate('evaluator', this.scenario.evaluator ?? NO_EVALUATOR),
      clock: { now: () => this.now + skew },
      ids: this.ids,
      engines: new Map(builtInEngines(this.scenario).map((name) => [name, { stateMachineArn: machineArn(name) }])),
      installation: 'sim',
      options: this.options,
    });
  }

  /** After an operation took effect. */
  check(): void {
    checkNow(this);
  }

  private noteStart(name: string, input: string): void {
    const known = this.trace.inputs.get(name);
    if (known) known.add(input);
    else this.trace.inputs.set(name, new Set([input]));
  }

  private onExecution(execution: MemoryExecution): void {
    if (execution.status !== 'RUNNING') {
      this.ends = this.ends.filter((end) => end.execution !== execution);
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
    this.ends.push({ at: this.now + durationMs, execution, end });
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

const OPTIONS: StepOptions = {
  tickMs: TICK_MS,
  passMs: PASS_MS,
  maxDecisions: 200,
  maxFlights: 500,
  stopGraceMs: 600_000,
};

const NO_EVALUATOR: Evaluator = {
  evaluate: async () => {
    throw new Error('no expression in these scenarios');
  },
};

/** Some of a list, drawn without putting back. */
function draw<T>(from: readonly T[], count: number, choose: (choices: number) => number): T[] {
  const left = [...from];
  const drawn: T[] = [];
  while (drawn.length < count && left.length > 0) drawn.push(...left.splice(choose(left.length), 1));
  return drawn;
}
