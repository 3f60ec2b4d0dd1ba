/**
 * A small world for pipelines as aggregates: the real batches and ticks over memory adapters, a virtual clock, users and
 * engines that come and go. Every port call waits until the world lets it happen, so an invocation can be killed at each
 * of them, and several can interleave in any order.
 */
import { createMemoryDueIndex } from '#adapters/memory/memory-due-index.ts';
import { createMemoryExecutions, type MemoryExecution } from '#adapters/memory/memory-executions.ts';
import { createCountingIds } from '#adapters/memory/memory-ids.ts';
import { createMemoryLimitStore } from '#adapters/memory/memory-limit-store.ts';
import { createMemoryMemo } from '#adapters/memory/memory-memo.ts';
import { createMemoryPayloads } from '#adapters/memory/memory-payloads.ts';
import { createMemoryPipelineStore } from '#adapters/memory/memory-pipeline-store.ts';
import { createMemoryReports } from '#adapters/memory/memory-reports.ts';
import { createMemoryRunStore } from '#adapters/memory/memory-run-store.ts';
import { DEFAULT_STEP_OPTIONS } from '#domain/draft.ts';
import type { BusEvent, DueThing, Inbox } from '#ports/index.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { workBatch } from '#scheduler/inbox-batch.ts';
import { runTick } from '#scheduler/tick.ts';
import type { Chooser } from '#testing/chooser.ts';
import { settle } from '#testing/settle.ts';

/** The beginning of a world: a full minute. */
export const BEGAN_AT = Date.UTC(2026, 10, 30, 12);
/** When ticks come: so long after each full minute (ms). */
const TICK_AFTER_MS = 20_000;
const TICK_MS = 60_000;
const AGAIN_MS = 1_000;
const STEP_MS = 5;
const MOST_ALIVE = 3;
const MOST_OPERATIONS = 100_000;

/** What a user does, so long after the beginning (ms); gives false to be asked again. A client whose call died asks again. */
export interface Act {
  readonly atMs: number;
  readonly ask: (deps: PassDeps) => Promise<boolean>;
}

/** What goes wrong. */
export interface PipelineFaults {
  /** An invocation dies at this port call, before or after it took effect. */
  readonly kill?: { readonly at: number; readonly when: 'before' | 'after' };
  /** Every ring is lost but those of the tick. */
  readonly drop?: boolean;
  /** Every message comes so often. @default 1 */
  readonly copies?: number;
  /** Chooses which of the calls under way happens next. @default the oldest */
  readonly choose?: Chooser;
}

interface Invocation {
  isDead: boolean;
  readonly onDeath: () => void;
}

interface Operation {
  readonly invocation: Invocation;
  readonly happen: () => Promise<void>;
}

interface Message {
  readonly body: string;
  visibleAt: number;
}

/** A world; `durationMs`: how long an execution runs, for ever where it is not given. */
export class PipelineWorld {
  now = BEGAN_AT;
  readonly runs = createMemoryRunStore();
  readonly limits = createMemoryLimitStore();
  readonly pipelines = createMemoryPipelineStore();
  readonly executions;
  readonly events: BusEvent[] = [];
  /** Port calls that happened, by name. */
  readonly calls: string[] = [];
  readonly troubles: unknown[] = [];
  /** Called after each port call. */
  check: () => void = () => {};
  private readonly faults: PipelineFaults;
  private readonly acts: { at: number; readonly act: Act }[];
  private messages: Message[] = [];
  private open: Operation[] = [];
  private alive = 0;
  private nextTickAt = BEGAN_AT + TICK_AFTER_MS;
  private ends: { readonly at: number; readonly name: string }[] = [];
  private readonly ids = createCountingIds();
  private readonly due = createMemoryDueIndex({
    run: this.runs.stored,
    limit: this.limits.stored,
    pipeline: this.pipelines.stored,
  });

  constructor(acts: readonly Act[], faults: PipelineFaults = {}, durationMs: number | undefined = undefined) {
    this.faults = faults;
    this.acts = acts.map((act) => ({ at: BEGAN_AT + act.atMs, act }));
    this.executions = createMemoryExecutions({ now: () => this.now }, (execution) =>
      this.onExecution(execution, durationMs),
    );
  }

  /** Plays until so long after the beginning (ms). */
  async play(untilMs: number): Promise<void> {
    while (this.now < BEGAN_AT + untilMs || this.open.length > 0) {
      if (this.calls.length > MOST_OPERATIONS) throw new Error('the world does not come to rest');
      await this.once(BEGAN_AT + untilMs);
    }
  }

  private async once(until: number): Promise<void> {
    const ready = this.messages.filter(({ visibleAt }) => visibleAt <= this.now);
    const { choose } = this.faults;
    const canDeliver = ready.length > 0 && this.alive < MOST_ALIVE;
    if (this.open.length > 0 && !(canDeliver && choose && choose(2) === 0)) {
      const at = choose ? choose(this.open.length) : 0;
      await this.operate(this.open.splice(at, 1)[0] as Operation);
      return;
    }
    if (canDeliver) {
      this.deliver(ready.slice(0, choose ? 1 + choose(4) : 10));
      return settle();
    }
    await this.pass(until);
  }

  private async operate({ invocation, happen }: Operation): Promise<void> {
    const kill = this.faults.kill?.at === this.calls.length ? this.faults.kill.when : undefined;
    this.now += STEP_MS;
    if (kill === 'before') this.die(invocation);
    else await happen();
    if (kill === 'after') this.die(invocation);
    await settle();
    this.check();
  }

  private die(invocation: Invocation): void {
    invocation.isDead = true;
    this.calls.push('(death)');
    this.open = this.open.filter((one) => one.invocation !== invocation);
    this.alive -= 1;
    invocation.onDeath();
  }

  /** Nothing more happens now: time goes on. */
  private async pass(until: number): Promise<void> {
    const times = [
      this.nextTickAt,
      ...this.messages.map(({ visibleAt }) => visibleAt),
      ...this.ends.map(({ at }) => at),
      ...this.acts.map(({ at }) => at),
    ];
    this.now = Math.max(this.now + 1, Math.min(until, ...times));
    if (this.now >= until) return;
    for (const { name } of this.ends.filter(({ at }) => at <= this.now)) {
      this.executions.end(name, { status: 'SUCCEEDED', output: '{}' });
    }
    this.ends = this.ends.filter(({ at }) => at > this.now);
    for (const one of this.acts) if (one.at <= this.now) this.act(one);
    if (this.nextTickAt <= this.now) {
      this.nextTickAt += TICK_MS;
      this.invoke(
        () => {},
        true,
        (deps) => runTick(deps),
      );
    }
    await settle();
  }

  private act(one: { at: number; readonly act: Act }): void {
    one.at = Number.POSITIVE_INFINITY;
    const again = () => {
      one.at = this.now + AGAIN_MS;
    };
    this.invoke(again, false, async (deps) => {
      if (!(await one.act.ask(deps))) again();
    });
  }

  private deliver(messages: Message[]): void {
    this.messages = this.messages.filter((message) => !messages.includes(message));
    const again = (some: readonly Message[]) =>
      this.messages.push(...some.map(({ body }) => ({ body, visibleAt: this.now + AGAIN_MS })));
    const queued = messages.map(({ body }, at) => ({ messageId: String(at), body }));
    this.invoke(
      () => again(messages),
      false,
      async (deps) => {
        const { failures } = await workBatch(deps, queued, (_what, error) => this.troubles.push(error));
        again(failures.map((id) => messages[Number(id)] as Message));
      },
    );
  }

  private invoke(onDeath: () => void, isTick: boolean, work: (deps: PassDeps) => Promise<unknown>): void {
    const invocation: Invocation = { isDead: false, onDeath };
    this.alive += 1;
    work(this.depsOf(invocation, isTick))
      .catch((error: unknown) => {
        this.troubles.push(error);
        if (!invocation.isDead) onDeath();
      })
      .finally(() => {
        if (!invocation.isDead) this.alive -= 1;
      });
  }

  private depsOf(invocation: Invocation, isTick: boolean): PassDeps {
    const gate = <T extends object>(name: string, port: T): T => this.gate(invocation, name, port);
    return {
      runs: gate('runs', this.runs),
      limits: gate('limits', this.limits),
      pipelines: gate('pipelines', this.pipelines),
      due: this.due,
      memo: createMemoryMemo(),
      payloads: createMemoryPayloads(),
      reports: createMemoryReports(),
      executions: gate('executions', this.executions),
      inbox: gate('inbox', this.inboxOf(isTick)),
      bus: gate('bus', { publish: async (events: readonly BusEvent[]) => void this.events.push(...events) }),
      evaluator: { evaluate: async () => [] },
      clock: { now: () => this.now },
      ids: this.ids,
      engines: new Map([['lambda', { stateMachineArn: machine('lambda') }]]),
      installation: 'sim',
      options: DEFAULT_STEP_OPTIONS,
    };
  }

  private gate<T extends object>(invocation: Invocation, name: string, port: T): T {
    return new Proxy(port, {
      get: (target, key) => {
        const method = Reflect.get(target, key) as unknown;
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) =>
          new Promise((resolve, reject) => {
            if (invocation.isDead) return;
            const happen = async () => {
              this.calls.push(`${name}.${String(key)}`);
              try {
                const answer = await (Reflect.apply(method, target, args) as Promise<unknown>);
                if (!invocation.isDead) resolve(answer);
              } catch (error) {
                reject(error);
              }
            };
            this.open.push({ invocation, happen });
          });
      },
    });
  }

  private inboxOf(isTick: boolean): Inbox {
    const send = async (message: object, delaySeconds = 0) => {
      const body = JSON.stringify({ kind: 'ring', ...message });
      const copies = isTick ? 1 : this.faults.drop ? 0 : (this.faults.copies ?? 1);
      for (let copy = 0; copy < copies; copy++) {
        this.messages.push({ body, visibleAt: this.now + delaySeconds * 1000 });
      }
    };
    return {
      ring: (run, delaySeconds) => send({ run }, delaySeconds),
      ringAbout: (run, about) => send({ run, about }),
      ringThing: ({ kind, id }: DueThing, delaySeconds) => send({ [kind]: id }, delaySeconds),
      ringAll: async (things) => {
        for (const { kind, id } of things) await send({ [kind]: id });
      },
    };
  }

  private onExecution(execution: MemoryExecution, durationMs: number | undefined): void {
    if (execution.status === 'RUNNING') {
      if (durationMs !== undefined) this.ends.push({ at: this.now + durationMs, name: execution.name });
      return;
    }
    if (this.faults.drop) return;
    const { name, stateMachineArn, status, output, startedAt, endedAt } = execution;
    const arn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;
    const end = { output: output ?? null, startDate: startedAt, stopDate: endedAt };
    this.messages.push({ body: JSON.stringify({ kind: 'execution', name, arn, status, ...end }), visibleAt: this.now });
  }
}

/** ARN of a state machine. */
export function machine(name: string): string {
  return `arn:aws:states:us-east-1:000000000000:stateMachine:${name}`;
}
