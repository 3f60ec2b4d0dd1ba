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
import type { PipelineDefinition } from '#domain/definition.ts';
import type { StepOptions } from '#domain/draft.ts';
import type { EngineFact, UserCommand } from '#domain/facts.ts';
import { type CompiledPipeline, compilePipeline } from '#domain/graph.ts';
import type { RunRecord } from '#domain/run.ts';
import type { BusEvent, Evaluator, Memo, Payloads } from '#ports/index.ts';
import { withChildRuns } from '#scheduler/child-runs.ts';
import { commandRun } from '#scheduler/command-run.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { workBatch } from '#scheduler/inbox-batch.ts';

import { runTick } from '#scheduler/tick.ts';
import { type Faults, InjectedFailure } from './faults.ts';
import { checkFinally } from './final-invariants.ts';
import { createFlakyExecutions, readInput } from './flaky-executions.ts';
import { InvariantError } from './invariant-error.ts';
import { checkNow } from './invariants.ts';
import { Mailbox, type Message } from './mailbox.ts';
import { newRun } from './new-run.ts';
import { type Invocation, type Operation, Operations } from './operations.ts';
import type { Scenario, Script, Trace } from './scenario.ts';
import { settle } from './settle.ts';
import { createWatchedRuns } from './watched-runs.ts';

export type { Faults } from './faults.ts';
export type { Scenario, Script, Trace } from './scenario.ts';

/** What a batch says of a message that is none: it goes to the dead letters. */
const UNREADABLE = 'a message of the inbox cannot be read';
/** Time limit of a pass in the world (ms). */
const PASS_MS = 30_000;
const TICK_MS = 60_000;
/** Messages of a batch, and passes at once, at most. */
const BATCH_SIZE = 10;
const CONCURRENCY = 3;
/** How long a call takes at most to take effect, unless it is frozen (ms). */
const LATENCY_MS = 400;

const ENGINES: ReadonlyMap<string, EngineFact> = new Map([
  ['lambda', { stateMachineArn: 'arn:aws:states:us-east-1:000000000000:stateMachine:lambda' }],
]);

export class World {
  now = 1_800_000_000_000;
  readonly beganAt = this.now;
  readonly trace: Trace = {
    operations: [],
    events: [],
    starts: [],
    childStarts: [],
    inputs: new Map(),
    deliveries: 0,
    invocations: 0,
  };
  readonly pipeline: CompiledPipeline;
  readonly runs = createWatchedRuns();
  readonly limits = createMemoryLimitStore();
  readonly pipelines = createMemoryPipelineStore();
  private readonly due = createMemoryDueIndex({ run: this.runs.stored, limit: this.limits.stored });
  readonly memo: Memo;
  readonly payloads: Payloads;
  private readonly ids = createCountingIds();
  readonly executions;
  readonly scenario: Scenario;
  readonly faults: Faults;
  readonly options: StepOptions;
  run: RunRecord | undefined;
  stopAccepted: number | undefined;
  ticks = 0;
  private readonly mailbox: Mailbox;
  private readonly operations: Operations;
  private readonly flaky;
  private readonly ends: { readonly at: number; readonly execution: MemoryExecution; readonly end: ExecutionEnd }[] =
    [];
  private nextTickAt: number;
  /** What one user asks for, in order, and what another one does. */
  private readonly users: { at: number; readonly kind: UserCommand['kind'] }[][] = [[], []];
  private forgetAt: number | undefined;
  private broken: unknown;

  constructor(scenario: Scenario, faults: Faults = {}) {
    this.scenario = scenario;
    this.memo = scenario.memo ?? createMemoryMemo();
    this.payloads = scenario.payloads ?? createMemoryPayloads();
    this.faults = faults;
    this.pipeline = compilePipeline(scenario.definition, 'rev1');
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
      isRefused: ({ node, item, attempt }) => scenario.script?.(node, attempt, item)?.isRefused === true,
      onStart: (name, input) => this.noteStart(name, input),
    });
    this.nextTickAt = this.now + this.options.tickMs;
  }

  /** Creates the run and plays until it is over and nothing is left to do, or `maxTicks` have passed. */
  async play(maxTicks = (60 * TICK_MS) / this.options.tickMs): Promise<void> {
    const { definition, stopAtMs, pauses = [] } = this.scenario;
    await this.pipelines.putDefinition(this.pipeline.name, 'incarnation', 'rev1', definition, this.now);
    this.run = newRun(this.pipeline, this.now);
    for (const child of this.scenario.children ?? []) await this.putPipeline(child);
    await this.runs.putValue(this.run, 'input', '{}');
    await this.runs.createRun(this.run);
    if (stopAtMs !== undefined) this.users[0]?.push({ at: this.now + stopAtMs, kind: 'stop' });
    for (const { fromMs, toMs } of pauses) {
      this.users[1]?.push({ at: this.now + fromMs, kind: 'pause' }, { at: this.now + toMs, kind: 'resume' });
    }
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

  private async putPipeline(definition: PipelineDefinition): Promise<void> {
    const { name } = definition;
    await this.pipelines.putDefinition(name, 'incarnation', 'rev1', definition, this.now);
    const times = { createdAt: this.now, updatedAt: this.now };
    await this.pipelines.commitHead({ name, incarnation: 'incarnation', revision: 'rev1', version: 1, ...times }, 0);
  }

  private isQuiet(): boolean {
    if (this.operations.isBusy() || this.mailbox.messages.length > 0) return false;
    if (this.users.some((user) => user.length > 0) || this.ends.length > 0) return false;
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
    const times = [this.nextTickAt, this.mailbox.nextAt(), this.operations.nextWakeAt()];
    times.push(...this.ends.map((end) => end.at));
    times.push(...this.users.map(([next]) => next?.at ?? Number.POSITIVE_INFINITY));
    if (this.forgetAt !== undefined) times.push(this.forgetAt);
    this.now = Math.max(this.now, Math.min(atMost, ...times));
    await this.operations.wake();
    for (const end of this.ends.splice(0)) {
      if (end.at <= this.now) this.executions.end(end.execution.name, end.end);
      else this.ends.push(end);
    }
    if (this.forgetAt !== undefined && this.forgetAt <= this.now) this.forget();
    for (const user of this.users) await this.giveCommand(user);
    if (this.nextTickAt <= this.now) {
      this.nextTickAt += this.options.tickMs;
      this.ticks += 1;
      await this.invoke({ what: 'tick', messages: [] }, (deps) => runTick(deps));
    }
  }

  private forget(): void {
    this.forgetAt = undefined;
    for (const [key, execution] of this.executions.started) {
      if (execution.status === 'RUNNING') this.executions.started.delete(key);
    }
    this.ends.splice(0);
  }

  private async deliver(messages: Message[]): Promise<void> {
    this.mailbox.hide(messages);
    this.trace.deliveries += messages.length;
    const queued = messages.map(({ body }, at) => ({ messageId: String(at), body }));
    await this.invoke({ what: 'pass', messages }, async (deps) => {
      const { failures } = await workBatch(deps, queued, (what, error) => this.onTrouble(what, error));
      messages.forEach((message, at) => {
        if (failures.includes(String(at))) this.mailbox.comesAgain(message);
        else this.mailbox.remove(message);
      });
    });
  }

  /** Users give their commands, each in its turn; a client whose call died asks again, as the command line would. */
  private async giveCommand(user: { at: number; readonly kind: UserCommand['kind'] }[]): Promise<void> {
    const [next] = user;
    if (!next || next.at > this.now) return;
    const { kind } = next;
    next.at = Number.POSITIVE_INFINITY;
    const askAgain = () => {
      next.at = this.now + 1_000;
    };
    await this.invoke({ what: kind, messages: [], onDeath: askAgain }, async (deps) => {
      const outcome = await commandRun(deps, this.run?.id ?? '', kind, 'user').catch((error: unknown) => {
        this.onTrouble(kind, error);
        return { kind: 'busy' as const };
      });
      if (outcome.kind === 'busy') return askAgain();
      user.shift();
      const isStopped = outcome.kind === 'done' && outcome.run.stop?.kind === 'user';
      if (kind === 'stop' && isStopped && outcome.command !== 'over') this.stopAccepted ??= this.now;
    });
  }

  /** Only what the world itself made to fail may fail. */
  private onTrouble(what: string, error: unknown): void {
    if (error instanceof InjectedFailure || what === UNREADABLE) return;
    this.broken ??= new InvariantError(this, `${what}: ${error instanceof Error ? error.stack : String(error)}`);
  }

  private async invoke(
    of: Pick<Invocation, 'what' | 'messages' | 'onDeath'>,
    work: (deps: PassDeps) => Promise<unknown>,
  ): Promise<void> {
    this.trace.invocations += 1;
    const invocation: Invocation = { ...of, what: `${of.what}${this.trace.invocations}` };
    work(this.depsOf(invocation, of.what === 'tick')).catch((error: unknown) => this.onTrouble(of.what, error));
    await settle();
  }

  /** An invocation died: its messages come again, its client asks again. */
  onDeath(invocation: Invocation): void {
    for (const message of invocation.messages) this.mailbox.comesAgain(message);
    invocation.onDeath?.();
  }

  private depsOf(invocation: Invocation, isTick: boolean): PassDeps {
    const { choose, skewMs } = this.faults;
    const skew = choose && skewMs !== undefined ? choose(2 * skewMs + 1) - skewMs : 0;
    const gate = <T extends object>(name: string, port: T): T => this.operations.gate(invocation, name, port);
    const isOwn = ({ detail }: BusEvent) => (detail as { runId?: string }).runId === this.run?.id;
    const publish = async (events: readonly BusEvent[]) => void this.trace.events.push(...events.filter(isOwn));
    return withChildRuns({
      runs: gate('runs', this.runs),
      limits: gate('limits', this.limits),
      pipelines: this.pipelines,
      due: gate('due', this.due),
      memo: gate('memo', this.memo),
      payloads: gate('payloads', this.payloads),
      executions: gate('executions', this.flaky),
      inbox: gate('inbox', this.mailbox.inboxOf(isTick)),
      bus: gate('bus', { publish }),
      evaluator: gate('evaluator', this.scenario.evaluator ?? NO_EVALUATOR),
      clock: { now: () => this.now + skew },
      ids: this.ids,
      engines: this.hasEngine() ? ENGINES : new Map(),
      installation: 'sim',
      options: this.options,
    });
  }

  private hasEngine(): boolean {
    const { engineAtMs = 0, engineGone } = this.scenario;
    const after = this.now - this.beganAt;
    return after >= engineAtMs && !(engineGone && after >= engineGone.fromMs && after < engineGone.toMs);
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
      this.mailbox.tellEnd(execution);
      return;
    }
    const { run, node, item, attempt, payload } = readInput(execution.input);
    const list = run === this.run?.id ? this.trace.starts : this.trace.childStarts;
    list.push({ name: execution.name, at: this.now });
    this.mailbox.tellStrangers(execution);
    const { durationMs, end } = this.scenario.script?.(node, attempt, item, payload) ?? DEFAULT_SCRIPT;
    this.ends.push({ at: this.now + durationMs, execution, end });
  }
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
