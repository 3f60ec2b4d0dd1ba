/**
 * A world in one thread for the real pass and tick: memory adapters, a virtual clock, and a hand on every port call.
 *
 * Each port call of an invocation is an **operation** that waits until the world lets it happen, so the world owns the
 * order of all of them. Killing an invocation means that its operation is never answered: before it took effect, or
 * after. No error is thrown, since a killed process catches nothing.
 */
import { createMemoryExecutions, type ExecutionEnd, type MemoryExecution } from '#adapters/memory/memory-executions.ts';
import { createCountingIds } from '#adapters/memory/memory-ids.ts';
import { createMemoryPipelineStore } from '#adapters/memory/memory-pipeline-store.ts';
import { createMemoryRunStore } from '#adapters/memory/memory-run-store.ts';
import type { PipelineDefinition } from '#domain/definition.ts';
import type { StepOptions } from '#domain/draft.ts';
import { type CompiledPipeline, compilePipeline } from '#domain/graph.ts';
import type { RunRecord } from '#domain/run.ts';
import type { BusEvent, Evaluator } from '#ports/index.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { type Completion, completionOf } from '#scheduler/gather.ts';
import { type PassOutcome, runPass } from '#scheduler/pass.ts';
import { runTick } from '#scheduler/tick.ts';
import { checkFinally, checkNow } from './invariants.ts';

/** Time limit of a pass in the world (ms). */
const PASS_MS = 30_000;
const TICK_MS = 60_000;
/** How long a queue hides a message from others once it was handed over (ms). */
const VISIBILITY_MS = 180_000;

/** How an execution of a node's attempt goes. */
export interface Script {
  readonly durationMs: number;
  readonly end: ExecutionEnd;
}

/** What a world is to play. */
export interface Scenario {
  readonly name: string;
  readonly definition: PipelineDefinition;
  /** By node id and attempt; what is absent succeeds after a second. */
  readonly script?: (node: string, attempt: number, item?: number) => Script | undefined;
  /** When a user stops the run (ms after its creation). */
  readonly stopAtMs?: number;
}

/** What may go wrong, by the number of an operation, counted from 0 over the whole run. */
export interface Faults {
  /** Operations at which their invocation dies. */
  readonly kills?: ReadonlyMap<number, 'before' | 'after'>;
  /** Operation at which its invocation freezes; it wakes when everybody else has waited this long (ms). */
  readonly freeze?: { readonly at: number; readonly when: 'before' | 'after'; readonly forMs: number };
  /** Whether a call of StartExecution itself may freeze before it takes effect. */
  readonly freezeStarts?: boolean;
  /** Time between ticks (ms). @default 60000 */
  readonly tickMs?: number;
  /** Events and rings that are lost; the tick's own rings never are. */
  readonly drop?: boolean;
  /** Each event and ring arrives this many times. */
  readonly copies?: number;
  /** Which of several waiting operations happens next; absent: one invocation at a time. */
  readonly choose?: (choices: number) => number;
}

interface Operation {
  readonly invocation: Invocation;
  readonly label: string;
  readonly effect: () => Promise<unknown>;
  readonly answer: (value: unknown) => void;
  readonly fail: (error: unknown) => void;
}

interface Invocation {
  readonly what: string;
  state: 'running' | 'done' | 'dead';
  message: Message | undefined;
}

interface Message {
  readonly run: string;
  readonly completion: Completion | undefined;
  visibleAt: number;
}

/** What happened: for invariants, and to tell a failing schedule. */
export interface Trace {
  readonly operations: string[];
  readonly events: BusEvent[];
  readonly starts: { readonly name: string; readonly at: number }[];
}

export class World {
  now = 1_800_000_000_000;
  readonly trace: Trace = { operations: [], events: [], starts: [] };
  readonly pipeline: CompiledPipeline;
  readonly runs = createMemoryRunStore();
  readonly pipelines = createMemoryPipelineStore();
  readonly executions;
  readonly scenario: Scenario;
  readonly faults: Faults;
  run: RunRecord | undefined;
  stopAccepted: number | undefined;
  ticks = 0;
  private readonly messages: Message[] = [];
  private readonly ends: { readonly at: number; readonly execution: MemoryExecution; readonly end: ExecutionEnd }[] =
    [];
  private readonly waiting: Operation[] = [];
  private readonly frozen: { readonly operation: Operation; readonly wakeAt: number }[] = [];
  private readonly tickMs: number;
  private nextTickAt: number;
  private stopAt: number | undefined;
  private forgetAt: number | undefined;
  private invocations = 0;

  constructor(scenario: Scenario, faults: Faults = {}) {
    this.scenario = scenario;
    this.faults = faults;
    this.pipeline = compilePipeline(scenario.definition, 'rev1');
    this.executions = createMemoryExecutions({ now: () => this.now }, (execution) => this.onExecution(execution));
    this.tickMs = faults.tickMs ?? TICK_MS;
    this.nextTickAt = this.now + this.tickMs;
  }

  /** Creates the run and plays until it is over and nothing is left to do, or `maxTicks` have passed. */
  async play(maxTicks = (60 * TICK_MS) / this.tickMs): Promise<void> {
    await this.pipelines.putDefinition(this.pipeline.name, 'incarnation', 'rev1', this.scenario.definition, this.now);
    this.run = newRun(this.pipeline, this.now);
    await this.runs.createRun(this.run);
    if (this.scenario.stopAtMs !== undefined) this.stopAt = this.now + this.scenario.stopAtMs;
    this.send({ run: this.run.id, completion: undefined, visibleAt: this.now });
    while (this.ticks < maxTicks && !(await this.isQuiet())) await this.once();
    await checkFinally(this);
  }

  /** Makes Step Functions forget all executions that run at a time (ms after the world's beginning), without a word. */
  deleteExecutionsAt(afterMs: number): void {
    this.forgetAt = this.now + afterMs;
  }

  private async isQuiet(): Promise<boolean> {
    if (this.waiting.length > 0 || this.frozen.length > 0 || this.messages.length > 0) return false;
    if (this.stopAt !== undefined || this.ends.length > 0) return false;
    const run = await this.runs.readRun(this.run?.id ?? '');
    return run !== undefined && run.dueAt === undefined;
  }

  /** Lets one thing happen. */
  private async once(): Promise<void> {
    const { choose } = this.faults;
    const ready = this.messages.filter((message) => message.visibleAt <= this.now);
    const isBusy = this.waiting.length > 0;
    if (isBusy && (!choose || ready.length === 0 || this.invocationsAlive() >= 3 || choose(2) === 0)) {
      await this.operate(this.waiting.splice(choose ? choose(this.waiting.length) : 0, 1)[0] as Operation);
    } else if (ready.length > 0) await this.deliver(ready[choose ? choose(ready.length) : 0] as Message);
    else await this.pass();
  }

  private invocationsAlive(): number {
    return new Set(this.waiting.map((operation) => operation.invocation)).size;
  }

  /** Nothing can happen now: time goes on to the next thing that will. */
  private async pass(): Promise<void> {
    const times = [this.nextTickAt, ...this.messages.map((message) => message.visibleAt)];
    times.push(...this.ends.map((end) => end.at), ...this.frozen.map((frozen) => frozen.wakeAt));
    for (const time of [this.stopAt, this.forgetAt]) if (time !== undefined) times.push(time);
    this.now = Math.max(this.now, Math.min(...times));
    for (const frozen of this.frozen.splice(0)) {
      if (frozen.wakeAt <= this.now) await this.finish(frozen.operation);
      else this.frozen.push(frozen);
    }
    for (const end of this.ends.splice(0)) {
      if (end.at <= this.now) this.executions.end(end.execution.name, end.end);
      else this.ends.push(end);
    }
    if (this.forgetAt !== undefined && this.forgetAt <= this.now) this.forget();
    if (this.stopAt !== undefined && this.stopAt <= this.now) {
      this.stopAt = undefined;
      await this.stop();
    }
    if (this.nextTickAt <= this.now) {
      this.nextTickAt += this.tickMs;
      this.ticks += 1;
      await this.invoke('tick', undefined, (deps) => runTick(deps));
    }
  }

  private forget(): void {
    this.forgetAt = undefined;
    for (const [key, execution] of this.executions.started) {
      if (execution.status === 'RUNNING') this.executions.started.delete(key);
    }
    this.ends.splice(0);
  }

  private async deliver(message: Message): Promise<void> {
    message.visibleAt = this.now + VISIBILITY_MS;
    const completions = message.completion ? [message.completion] : [];
    await this.invoke('pass', message, (deps) => runPass(deps, message.run, { completions }));
  }

  /** A user stops the run; a client whose call died asks again, as the command line would. */
  private async stop(): Promise<void> {
    const id = this.run?.id ?? '';
    const invocation = await this.invoke('stop', undefined, async (deps) => {
      const outcome = await runPass(deps, id, { stop: { by: 'user' } });
      if (outcome.kind === 'done' && outcome.stop !== 'over') this.stopAccepted ??= this.now;
      else if (outcome.kind === 'busy') this.stopAt = this.now + 1_000;
    });
    this.onDeath.set(invocation, () => {
      this.stopAt = this.now + 1_000;
    });
  }

  private readonly onDeath = new Map<Invocation, () => void>();

  private async invoke(
    what: string,
    message: Message | undefined,
    work: (deps: PassDeps) => Promise<unknown>,
  ): Promise<Invocation> {
    this.invocations += 1;
    const invocation: Invocation = { what: `${what}${this.invocations}`, state: 'running', message };
    work(this.depsOf(invocation, what)).then(
      (outcome) => this.onEnd(invocation, outcome as PassOutcome | undefined),
      (error: unknown) => {
        throw error;
      },
    );
    await settle();
    return invocation;
  }

  private onEnd(invocation: Invocation, outcome: PassOutcome | undefined): void {
    invocation.state = 'done';
    const { message } = invocation;
    if (message && outcome?.kind !== 'busy') remove(this.messages, message);
  }

  private depsOf(invocation: Invocation, what: string): PassDeps {
    const gate = <T extends object>(name: string, port: T): T =>
      new Proxy(port, {
        get: (target, key) => {
          const method = Reflect.get(target, key) as unknown;
          if (typeof method !== 'function') return method;
          const call = (...args: unknown[]) => Reflect.apply(method, target, args) as unknown;
          if (key === 'dueRuns') return (...args: unknown[]) => this.gatePages(invocation, call, args);
          return (...args: unknown[]) =>
            this.gate(invocation, `${name}.${String(key)}`, () => call(...args) as Promise<unknown>);
        },
      });
    return {
      runs: gate('runs', this.runs),
      pipelines: this.pipelines,
      executions: gate('executions', this.executions),
      inbox: gate('inbox', this.inboxOf(what === 'tick')),
      bus: gate('bus', { publish: async (events: readonly BusEvent[]) => void this.trace.events.push(...events) }),
      evaluator: NO_EVALUATOR,
      clock: { now: () => this.now },
      ids: createCountingIds(),
      engines: new Map([['lambda', { stateMachineArn: 'arn:aws:states:us-east-1:000000000000:stateMachine:lambda' }]]),
      installation: 'sim',
      options: { ...OPTIONS, tickMs: this.tickMs },
    };
  }

  private gate(invocation: Invocation, label: string, effect: () => Promise<unknown>): Promise<unknown> {
    return new Promise((answer, fail) => {
      this.waiting.push({ invocation, label, effect, answer, fail });
    });
  }

  private async *gatePages(invocation: Invocation, call: (...args: unknown[]) => unknown, args: unknown[]) {
    const pages = call(...args) as AsyncIterable<readonly string[]>;
    for await (const page of pages)
      yield (await this.gate(invocation, 'runs.dueRuns', async () => page)) as readonly string[];
  }

  private async operate(operation: Operation): Promise<void> {
    const number = this.trace.operations.length;
    this.trace.operations.push(`${operation.invocation.what} ${operation.label}`);
    const { kills, freeze, freezeStarts } = this.faults;
    const kill = kills?.get(number);
    if (kill === 'before') return this.die(operation);
    if (freeze?.at === number && freeze.when === 'before' && (freezeStarts || !isStart(operation))) {
      this.frozen.push({ operation, wakeAt: this.now + freeze.forMs });
      return;
    }
    if (kill === 'after') {
      await operation.effect();
      await checkNow(this);
      this.die(operation);
      return;
    }
    if (freeze?.at === number) {
      const value = await operation.effect();
      await checkNow(this);
      this.frozen.push({ operation: { ...operation, effect: async () => value }, wakeAt: this.now + freeze.forMs });
      return;
    }
    await this.finish(operation);
  }

  private async finish(operation: Operation): Promise<void> {
    try {
      operation.answer(await operation.effect());
    } catch (error) {
      operation.fail(error);
    }
    await settle();
    await checkNow(this);
  }

  private die(operation: Operation): void {
    const { invocation } = operation;
    invocation.state = 'dead';
    for (const other of [...this.waiting]) if (other.invocation === invocation) remove(this.waiting, other);
    if (invocation.message) invocation.message.visibleAt = this.now + 1_000;
    this.onDeath.get(invocation)?.();
  }

  private inboxOf(isTick: boolean) {
    const ring = async (run: string, delaySeconds = 0) => {
      const copies = isTick ? 1 : this.copies();
      for (let copy = 0; copy < copies; copy++) {
        this.send({ run, completion: undefined, visibleAt: this.now + delaySeconds * 1000 });
      }
    };
    return {
      ring,
      ringAll: async (runs: readonly string[]) => {
        for (const run of runs) await ring(run);
      },
    };
  }

  private copies(): number {
    return this.faults.drop ? 0 : (this.faults.copies ?? 1);
  }

  private send(message: Message): void {
    this.messages.push(message);
  }

  private onExecution(execution: MemoryExecution): void {
    if (execution.status === 'RUNNING') {
      this.trace.starts.push({ name: execution.name, at: this.now });
      const { node, item, attempt } = (JSON.parse(execution.input) as ExecutionInput).millrace;
      const script = this.scenario.script?.(node, attempt, item) ?? {
        durationMs: 1_000,
        end: { status: 'SUCCEEDED', output: '{}' },
      };
      this.ends.push({ at: this.now + script.durationMs, execution, end: script.end });
      return;
    }
    const told = completionOf('sim', execution.name, {
      status: execution.status,
      startedAt: execution.startedAt,
      endedAt: this.now,
      ...(execution.output !== undefined && { output: execution.output }),
    });
    if (!told) return;
    for (let copy = 0; copy < this.copies(); copy++) {
      this.send({ run: told.run, completion: told.completion, visibleAt: this.now + 10 });
    }
  }
}

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

interface ExecutionInput {
  readonly millrace: { readonly node: string; readonly item?: number; readonly attempt: number };
}

function newRun(pipeline: CompiledPipeline, now: number): RunRecord {
  return {
    schemaVersion: 1,
    id: 'a'.repeat(26),
    pipeline: pipeline.name,
    revision: pipeline.revision,
    nonce: 'bbbbbbbb',
    secret: 'secret',
    rev: 1,
    state: 'QUEUED',
    reason: 'Starting',
    since: now,
    createdAt: now,
    trigger: { type: 'api' },
    tags: [],
    inputHash: 'hash',
    nodes: 'p'.repeat(pipeline.nodes.length),
    machines: [],
    flights: [],
    decisions: [],
    announced: { rev: 0, state: 'QUEUED' },
    dueAt: Math.floor(now / TICK_MS) * TICK_MS,
  };
}

/**
 * A start cannot freeze before it takes effect: the wall clock is read right before the call, and a call under way is
 * answered or fails within seconds. `freezeStarts` shows what happens where even that does not hold.
 */
function isStart(operation: Operation): boolean {
  return operation.label === 'executions.start';
}

function remove<T>(list: T[], item: T): void {
  const at = list.indexOf(item);
  if (at >= 0) list.splice(at, 1);
}

/** Waits until every invocation stands at a port call or is over: until no microtask is left. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
