/**
 * The stage on which the real scheduler plays in one thread: its batches, passes and ticks, a virtual clock, and a hand
 * on every port call.
 *
 * Each port call of an invocation is an **operation** that waits until the stage lets it happen, so the stage owns the
 * order of all of them. What it may do to them is in `faults.ts`. What is on the stage (stores, executions, users) and
 * what must hold there is for those who set it up.
 */
import type { StepOptions } from '#domain/draft.ts';
import type { RunRecord } from '#domain/run.ts';
import { withChildRuns } from '#scheduler/child-runs.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { workBatch } from '#scheduler/inbox-batch.ts';
import { runTick } from '#scheduler/tick.ts';
import type { Chooser } from './chooser.ts';
import type { Faults } from './faults.ts';
import { isEcho, Mailbox, type Message } from './mailbox.ts';
import { type Invocation, type Operation, Operations, type OperationsWorld } from './operations.ts';
import { settle } from './settle.ts';

/** Messages of a batch, and passes at once, at most. */
const BATCH_SIZE = 10;
const CONCURRENCY = 3;
/** Ticks in a row that may not come. */
const MOST_SKIPPED = 2;
/** How long a call takes at most to take effect, unless it is frozen (ms). */
const LATENCY_MS = 400;

/** Options of an installation as it is by default. */
export const STAGE_OPTIONS: StepOptions = {
  tickMs: 60_000,
  passMs: 30_000,
  maxDecisions: 200,
  maxFlights: 500,
  stopGraceMs: 600_000,
};

/** Something that happens on a stage by itself, at times of its own. */
export interface Happening {
  /** Whether something of it is left to happen. */
  isBusy(): boolean;
  /** When the next of it happens (ms since the epoch); infinite, where nothing will. */
  nextAt(): number;
  /** Lets happen what is due now. */
  act(): Promise<void> | void;
}

/** What a stage writes down. */
export interface StageTrace {
  /** All operations that happened, in words, in order. */
  readonly operations: string[];
  /** Messages handed over, and invocations in all. */
  deliveries: number;
  invocations: number;
}

/** Makes operations out of the calls of a port, by the port's name. */
export type Gate = <T extends object>(name: string, port: T) => T;

/** What an invocation works with beside what the stage itself gives it. */
export type StagePorts = Omit<PassDeps, 'inbox' | 'clock' | 'options'>;

/** A stage; who makes one says what is on it. */
export abstract class Stage implements OperationsWorld {
  /** Virtual time (ms since the epoch). */
  now: number;
  readonly beganAt: number;
  readonly faults: Faults;
  readonly options: StepOptions;
  readonly mostOperations: number = 20_000;
  /** Ticks up to now, those that did not come included. */
  ticks = 0;
  abstract readonly trace: StageTrace;
  abstract readonly runs: { all(): readonly RunRecord[] };
  protected readonly mailbox: Mailbox;
  protected readonly operations: Operations;
  private nextTickAt: number;
  private broken: unknown;
  /** Ticks that did not come, up to now in a row. */
  private skipped = 0;

  constructor(faults: Faults, options: Partial<StepOptions>, beganAt: number) {
    this.now = beganAt;
    this.beganAt = beganAt;
    this.faults = faults;
    this.options = { ...STAGE_OPTIONS, ...options, ...(faults.tickMs !== undefined && { tickMs: faults.tickMs }) };
    this.mailbox = new Mailbox(faults, () => this.now);
    this.operations = new Operations(this);
    this.nextTickAt = this.now + this.options.tickMs;
  }

  /** What happens by itself, in the order in which it does where several things do at one time. */
  protected abstract happenings(): readonly Happening[];

  /** The ports of an invocation; those that may go wrong are given through the gate. */
  protected abstract portsOf(gate: Gate, what: string): StagePorts;

  /** After an operation took effect. */
  abstract check(): void;

  /** An invocation, or a part of its work, failed. */
  abstract onTrouble(what: string, error: unknown): void;

  /** The error of a promise that was broken. */
  protected abstract errorOf(what: string): unknown;

  /** When the next tick comes. */
  protected tickAt(): number {
    return this.nextTickAt;
  }

  breaks(what: string): void {
    this.broken ??= this.errorOf(what);
  }

  /** Whether no operation, message and happening is left. */
  protected isIdle(): boolean {
    if (this.operations.isBusy() || this.mailbox.messages.length > 0) return false;
    return !this.happenings().some((happening) => happening.isBusy());
  }

  /**
   * Lets one thing happen.
   * @throws what was broken
   */
  protected async once(): Promise<void> {
    await this.letHappen();
    if (this.broken !== undefined) throw this.broken;
  }

  private async letHappen(): Promise<void> {
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

  /** When the next thing happens by itself (ms since the epoch); infinite, where nothing will. */
  protected nextAt(): number {
    const others = this.happenings().map((one) => one.nextAt());
    return Math.min(this.tickAt(), this.mailbox.nextAt(), this.operations.nextWakeAt(), ...others);
  }

  /** Nothing more happens now: time goes on to the next thing that will, or to a time before it. */
  private async pass(atMost = Number.POSITIVE_INFINITY): Promise<void> {
    const tickAt = this.tickAt();
    this.now = Math.max(this.now, Math.min(atMost, this.nextAt()));
    await this.operations.wake();
    for (const happening of this.happenings()) await happening.act();
    if (tickAt > this.now) return;
    this.nextTickAt = tickAt + this.options.tickMs;
    this.ticks += 1;
    if (this.skipsTick()) return;
    await this.invoke({ what: 'tick', messages: [] }, (deps) => runTick(deps));
  }

  private skipsTick(): boolean {
    const { skipsOneIn, choose } = this.faults;
    const isSkipped = skipsOneIn !== undefined && choose?.(skipsOneIn) === 0 && this.skipped < MOST_SKIPPED;
    this.skipped = isSkipped ? this.skipped + 1 : 0;
    return isSkipped;
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
    return this.depsWith((name, port) => this.operations.gate(invocation, name, port), what, skew);
  }

  /** What passes work with while nothing happens on the stage: each call takes effect at once, and none goes wrong. */
  protected calmDeps(): PassDeps {
    return this.depsWith((_name, port) => port, 'tick', 0);
  }

  private depsWith(gate: Gate, what: string, skewMs: number): PassDeps {
    return withChildRuns({
      ...this.portsOf(gate, what),
      // What the tick rings is never lost.
      inbox: gate('inbox', this.mailbox.inboxOf(what === 'tick')),
      clock: { now: () => this.now + skewMs },
      options: this.options,
    });
  }
}

/** The state machine of an engine on a stage. */
export function machineArn(engine: string): string {
  return `arn:aws:states:us-east-1:000000000000:stateMachine:${engine}`;
}

/** Some of a list, drawn without putting back. */
function draw<T>(from: readonly T[], count: number, choose: Chooser): T[] {
  const left = [...from];
  const drawn: T[] = [];
  while (drawn.length < count && left.length > 0) drawn.push(...left.splice(choose(left.length), 1));
  return drawn;
}
