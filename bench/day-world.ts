/**
 * An installation in an account with quotas, in a time of its own: five schedulers at a time over the memory stores, each
 * an instance with the real adapter and call allowance; a queue with delays and dead letters; the tick; and Lambda
 * functions that take time and of which only so many run.
 *
 * A batch takes effect when it begins, and its instance is busy until it would be over. So no two passes meet: how
 * that goes is what the simulation is for.
 */

import { createCallAllowance } from '#adapters/aws/call-allowance.ts';
import { callRatesOf } from '#adapters/aws/service-quotas.ts';
import { createSfnExecutions } from '#adapters/aws/sfn-executions.ts';
import { createMemoryDueIndex } from '#adapters/memory/memory-due-index.ts';
import type { MemoryExecution } from '#adapters/memory/memory-executions.ts';
import { createCountingIds } from '#adapters/memory/memory-ids.ts';
import { createMemoryLimitStore } from '#adapters/memory/memory-limit-store.ts';
import { createMemoryMemo } from '#adapters/memory/memory-memo.ts';
import { createMemoryPayloads } from '#adapters/memory/memory-payloads.ts';
import { createMemoryPipelineStore } from '#adapters/memory/memory-pipeline-store.ts';
import { createMemoryReports } from '#adapters/memory/memory-reports.ts';
import { createMemoryRunStore } from '#adapters/memory/memory-run-store.ts';
import { DEFAULT_STEP_OPTIONS } from '#domain/draft.ts';
import { isRunOver, type RunRecord } from '#domain/run.ts';
import type { DueThing, Executions, Inbox } from '#ports/index.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { workBatch } from '#scheduler/inbox-batch.ts';
import { runTick } from '#scheduler/tick.ts';
import { Timeline } from './day-timeline.ts';
import { createDraws, type Draws } from './latency/draws.ts';
import { DEFAULT_INPUTS, inputOf, spreadOf } from './latency/inputs.ts';
import { type AccountQuotas, MACHINE_ARN, QuotaAccount } from './quota-account.ts';

/** Batches of the inbox at the same time: infra/constructs/millrace-parts.ts. */
export const SCHEDULERS = 5;
/** Batch, visibility and readings of a message: infra/constructs/work-queue.ts. */
const BATCH_SIZE = 10;
const VISIBILITY_MS = 180_000;
const MOST_READINGS = 10;
/** A scheduler for which there is no place is tried again after this time (ms). */
const SCHEDULER_RETRY_MS = 1_000;
/** Waits of the engine `lambda` where a function is throttled: infra/constructs/lambda-engine-definition.ts. */
const LONGEST_RETRY_MS = 60_000;
/** What an invocation takes: calls it waits for, and computation on the share of a core that 512 MB have. */
const STORE_MS = 12;
const CALLS_MS = 30;
const CALLS_AT_ONCE = 10;
const CORE_SHARE = inputOf(DEFAULT_INPUTS, 'scheduler.memory') / 1_769;
const PASS_CPU_MS = 3.5;
const START_CPU_MS = 0.5;

/** What the world is like. */
export interface WorldOptions {
  readonly quotas: AccountQuotas;
  /** Whose shares of the quotas the instances keep to. @default us-east-1 */
  readonly region?: string;
  readonly beginsAt: number;
  readonly seed: number;
  /** How long the function of a node runs (ms). */
  readonly nodeMs: (node: { readonly run: string; readonly node: string }, draws: Draws) => number;
}

/** Times that something waited for one cause (ms). */
export class Waits {
  readonly all: number[] = [];
  longest = 0;

  note(ms: number): void {
    this.all.push(ms);
    this.longest = Math.max(this.longest, ms);
  }
}

interface Message {
  readonly body: string;
  readonly readyAt: number;
  readonly readings: number;
}

interface Instance {
  readonly deps: PassDeps;
  isBusy: boolean;
}

/** The world. */
export class DayWorld {
  now: number;
  readonly account: QuotaAccount;
  /** What users' commands work with. */
  readonly deps: PassDeps;
  /** Refused starts until they were taken; messages that were ready until an instance had them; functions until they ran. */
  readonly waits = { start: new Waits(), inbox: new Waits(), lambda: new Waits() };
  /** Starts that were not taken at once, by AWS or by the instance's own share. */
  refused = 0;
  readonly troubles: string[] = [];
  deadLetters = 0;
  mostInFlight = 0;
  batches = 0;
  /** Executions started so far. */
  started = 0;
  readonly timeline = new Timeline();
  readonly draws: Draws;
  private inFlight = 0;
  private readonly options: WorldOptions;
  private readonly ready: Message[] = [];
  private readonly instances: readonly Instance[];
  private readonly stored = createMemoryRunStore();
  private readonly refusedAt = new Map<string, number>();
  private isHeld = false;

  constructor(options: WorldOptions) {
    this.options = options;
    this.now = options.beginsAt;
    this.draws = createDraws(options.seed);
    this.account = new QuotaAccount(options.quotas, { now: () => this.now }, (execution) => this.onChange(execution));
    const shared = this.sharedDeps();
    const instance = (): Instance => ({ deps: { ...shared, executions: this.executions() }, isBusy: false });
    this.instances = Array.from({ length: SCHEDULERS }, instance);
    this.deps = { ...shared, executions: this.executions() };
    this.timeline.put(this.now + DEFAULT_STEP_OPTIONS.tickMs, () => this.tick());
  }

  /** Plays up to a time (ms since the epoch). */
  async playUntil(time: number): Promise<void> {
    for (;;) {
      await this.deliver();
      if (this.timeline.nextAt > time) break;
      this.now = Math.max(this.now, this.timeline.nextAt);
      await this.timeline.take()();
    }
    this.now = time;
  }

  /** Runs that are not over, as they are stored. */
  async activeRuns(): Promise<RunRecord[]> {
    const { stored } = this.stored;
    const ids = stored.dueTimes(Number.POSITIVE_INFINITY).flatMap((time) => stored.idsAt(time));
    const runs = await Promise.all(ids.map((id) => this.stored.readRun(id)));
    return runs.filter((run) => run !== undefined && !isRunOver(run.state)) as RunRecord[];
  }

  /** All runs, as they are stored. */
  async runs(): Promise<RunRecord[]> {
    const all = await Promise.all([...this.stored.stored.keys()].map((id) => this.stored.readRun(id)));
    return all.filter((run) => run !== undefined);
  }

  private sharedDeps(): Omit<PassDeps, 'executions'> {
    const limits = createMemoryLimitStore();
    const pipelines = createMemoryPipelineStore();
    return {
      runs: this.stored,
      limits,
      pipelines,
      due: createMemoryDueIndex({ run: this.stored.stored, limit: limits.stored, pipeline: pipelines.stored }),
      memo: createMemoryMemo(),
      reports: createMemoryReports(),
      payloads: createMemoryPayloads(),
      inbox: this.inbox(),
      bus: { publish: async () => {} },
      evaluator: {
        evaluate: async () => {
          throw new Error('there is no expression in these pipelines');
        },
      },
      clock: { now: () => this.now },
      ids: createCountingIds(),
      engines: new Map([['lambda', { stateMachineArn: MACHINE_ARN }]]),
      installation: 'bench',
      options: DEFAULT_STEP_OPTIONS,
    };
  }

  /** Step Functions as one instance has it. */
  private executions(): Executions {
    const allowance = createCallAllowance(callRatesOf('scheduler', this.options.region ?? 'us-east-1'));
    const real = createSfnExecutions(this.account.client(), allowance);
    return {
      ...real,
      start: async (stateMachineArn, name, input) => {
        const answer = await real.start(stateMachineArn, name, input);
        if (answer.kind === 'later') {
          this.refused += 1;
          if (!this.refusedAt.has(name)) this.refusedAt.set(name, this.now);
        } else if (answer.kind === 'started') {
          this.started += 1;
          this.waits.start.note(this.now - (this.refusedAt.get(name) ?? this.now));
          this.refusedAt.delete(name);
        }
        return answer;
      },
    };
  }

  private async deliver(): Promise<void> {
    while (this.ready.length > 0 && !this.isHeld) {
      const instance = this.instances.find(({ isBusy }) => !isBusy);
      if (!instance) return;
      if (!this.account.takeLambda()) {
        this.isHeld = true;
        this.timeline.put(this.now + SCHEDULER_RETRY_MS, () => {
          this.isHeld = false;
        });
        return;
      }
      await this.invoke(instance, this.ready.splice(0, BATCH_SIZE));
    }
  }

  private async invoke(instance: Instance, messages: readonly Message[]): Promise<void> {
    instance.isBusy = true;
    this.batches += 1;
    this.inFlight += messages.length;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    for (const { readyAt } of messages) this.waits.inbox.note(this.now - readyAt);
    const before = this.callsMade();
    let passes = 0;
    const deps = { ...instance.deps, log: () => passes++ };
    const queued = messages.map(({ body }, at) => ({ messageId: String(at), body }));
    const { failures } = await workBatch(deps, queued, (what, error) => this.troubles.push(`${what}: ${error}`));
    for (const id of failures) this.again(messages[Number(id)] as Message);
    const calls = this.callsMade() - before;
    const computed = (Math.max(1, passes) * PASS_CPU_MS + calls * START_CPU_MS) / CORE_SHARE;
    const took = STORE_MS + computed + Math.ceil(calls / CALLS_AT_ONCE) * CALLS_MS;
    this.timeline.put(this.now + took * (0.8 + 0.4 * this.draws.share()), () => {
      instance.isBusy = false;
      this.inFlight -= messages.length;
      this.account.giveLambda();
    });
  }

  private callsMade(): number {
    return [...this.account.tallies.values()].reduce((sum, { made }) => sum + made, 0);
  }

  private again({ body, readings }: Message): void {
    if (readings >= MOST_READINGS) this.deadLetters += 1;
    else this.send(body, VISIBILITY_MS, readings + 1);
  }

  private send(body: string, delayMs: number, readings = 1): void {
    const readyAt = this.now + delayMs;
    this.timeline.put(readyAt, () => {
      this.ready.push({ body, readyAt, readings });
    });
  }

  private async tick(): Promise<void> {
    this.timeline.put(this.now + DEFAULT_STEP_OPTIONS.tickMs, () => this.tick());
    await runTick(this.deps);
  }

  private inbox(): Inbox {
    const arrival = () => this.draws.logNormal(spreadOf(DEFAULT_INPUTS, 'sqs'));
    const ringThing = async ({ kind, id }: DueThing, delaySeconds = 0) =>
      this.send(JSON.stringify({ kind: 'ring', [kind]: id }), delaySeconds * 1_000 + arrival());
    return {
      ring: (id, delaySeconds) => ringThing({ kind: 'run', id }, delaySeconds),
      ringThing,
      ringAbout: async (run, about) => this.send(JSON.stringify({ kind: 'ring', run, about }), arrival()),
      ringAll: async (things) => {
        for (const thing of things) await ringThing(thing);
      },
    };
  }

  private onChange({ name, input, status, output, startedAt, endedAt }: MemoryExecution): void {
    if (status === 'RUNNING') {
      const { millrace } = JSON.parse(input) as { millrace: { run: string; node: string } };
      const readyAt = this.now + this.draws.logNormal(spreadOf(DEFAULT_INPUTS, 'states.start'));
      this.timeline.put(readyAt, () => this.runFunction(name, millrace, readyAt, 0));
      return;
    }
    const told = { kind: 'execution', name, status, output, startDate: startedAt, stopDate: endedAt };
    const way = ['states.event', 'eventbridge', 'sqs'].map((stage) =>
      this.draws.logNormal(spreadOf(DEFAULT_INPUTS, stage)),
    );
    this.send(
      JSON.stringify(told),
      way.reduce((sum, ms) => sum + ms, 0),
    );
  }

  /** Runs the function of a node, once there is a place for it. */
  private runFunction(
    name: string,
    node: { readonly run: string; readonly node: string },
    readyAt: number,
    tries: number,
  ): void {
    if (!this.account.takeLambda()) {
      const wait = this.draws.share() * Math.min(LONGEST_RETRY_MS, 1_000 * 2 ** tries);
      this.timeline.put(this.now + wait, () => this.runFunction(name, node, readyAt, tries + 1));
      return;
    }
    this.waits.lambda.note(this.now - readyAt);
    this.timeline.put(this.now + this.options.nodeMs(node, this.draws), () => {
      this.account.giveLambda();
      this.account.end(name);
    });
  }
}
