/** The port calls of a world's invocations: each waits here until the world lets it happen, and may go wrong. */
import type { RunRecord } from '#domain/run.ts';
import type { DueThing } from '#ports/index.ts';
import type { Chooser } from './chooser.ts';
import { type Faults, InjectedFailure, type OperationFault, toText } from './faults.ts';
import { FAILED_ANSWERS, REFUSED_ANSWER } from './flaky-executions.ts';
import { isEcho, type Message } from './mailbox.ts';
import { settle } from './settle.ts';

/** A call of one of our functions. */
export interface Invocation {
  readonly what: string;
  /** The messages that it works on. */
  readonly messages: readonly Message[];
  /** What else its death means. */
  readonly onDeath?: () => void;
}

/** A port call that waits to happen. */
export interface Operation {
  readonly invocation: Invocation;
  readonly label: string;
  readonly issuedAt: number;
  readonly effect: () => Promise<unknown>;
  readonly answer: (value: unknown) => void;
  readonly fail: (error: unknown) => void;
}

/** What operations have to know about the world that they happen in. */
export interface OperationsWorld {
  /** Virtual time (ms since the epoch). */
  readonly now: number;
  readonly faults: Faults;
  /** Operations that only a runaway pass would need. */
  readonly mostOperations: number;
  /** All operations that happened, in words, in order. */
  readonly trace: { readonly operations: string[] };
  readonly runs: { all(): readonly Pick<RunRecord, 'id' | 'dueAt'>[] };
  /** Called after an operation took effect. */
  check(): void;
  /** A promise was broken where nothing may be thrown: the world ends. */
  breaks(what: string): void;
  /** An invocation died. */
  onDeath(invocation: Invocation): void;
}

/** What answers `conflict` where it comes again after its answer was lost. */
const COMMITS: ReadonlySet<string> = new Set(['runs.commitRun', 'limits.commitLimit', 'pipelines.commitHead']);

/** Operations that wait to happen, and the hand on them. */
export class Operations {
  waiting: Operation[] = [];
  private frozen: { readonly operation: Operation; readonly wakeAt: number }[] = [];
  private readonly world: OperationsWorld;

  constructor(world: OperationsWorld) {
    this.world = world;
  }

  isBusy(): boolean {
    return this.waiting.length > 0 || this.frozen.length > 0;
  }

  /** Invocations that stand at an operation. */
  alive(): number {
    return new Set(this.waiting.map((operation) => operation.invocation)).size;
  }

  nextWakeAt(): number {
    return this.frozen.reduce((least, frozen) => Math.min(least, frozen.wakeAt), Number.POSITIVE_INFINITY);
  }

  /** Lets those go on that have been frozen long enough. */
  async wake(): Promise<void> {
    for (const frozen of this.frozen.splice(0)) {
      if (frozen.wakeAt <= this.world.now) await this.finish(frozen.operation);
      else this.frozen.push(frozen);
    }
  }

  /** A port as an invocation sees it: each call of it is an operation. */
  gate<T extends object>(invocation: Invocation, name: string, port: T): T {
    return new Proxy(port, {
      get: (target, key) => {
        const method = Reflect.get(target, key) as unknown;
        if (typeof method !== 'function') return method;
        const label = `${name}.${String(key)}`;
        const call = (...args: unknown[]) => Reflect.apply(method, target, args) as unknown;
        if (key === 'due') return (...args: unknown[]) => this.pages(invocation, call, args);
        return (...args: unknown[]) => this.put(invocation, label, () => call(...args) as Promise<unknown>);
      },
    });
  }

  private put(invocation: Invocation, label: string, effect: () => Promise<unknown>): Promise<unknown> {
    const { messages } = invocation;
    if (messages.length > 0 && messages.every(isEcho)) this.world.breaks(`an event of our own was handled: ${label}`);
    return new Promise((answer, fail) => {
      this.waiting.push({ invocation, label, issuedAt: this.world.now, effect, answer, fail });
    });
  }

  private async *pages(invocation: Invocation, call: (...args: unknown[]) => unknown, args: unknown[]) {
    const pages = call(...args) as AsyncIterable<readonly DueThing[]>;
    for await (const page of pages)
      yield (await this.put(invocation, 'due.due', async () => this.stale(page))) as readonly DueThing[];
    if (this.world.faults.isIndexStale) yield this.stale([]);
  }

  /** The due index lags: it shows what is no longer due, and not yet what is. Once nothing is, for long, it is right. */
  private stale(page: readonly DueThing[]): readonly DueThing[] {
    const { isIndexStale, choose } = this.world.faults;
    if (!isIndexStale || !choose) return page;
    if (page.length === 0 && this.world.runs.all().every(({ dueAt }) => dueAt === undefined)) return page;
    if (page.length === 0) return choose(4) === 0 ? [{ kind: 'run', id: this.anyRun(choose) }] : page;
    return choose(4) === 0 ? [] : page;
  }

  private anyRun(choose: Chooser): string {
    const runs = this.world.runs.all();
    return (runs.length > 1 ? runs[choose(runs.length)] : runs[0])?.id ?? '';
  }

  /** Lets an operation happen, or go wrong. */
  async operate(operation: Operation): Promise<void> {
    const { world } = this;
    this.waiting.splice(this.waiting.indexOf(operation), 1);
    const number = world.trace.operations.length;
    world.trace.operations.push(`${operation.invocation.what} ${operation.label}`);
    if (number > world.mostOperations) throw new Error(`more than ${world.mostOperations} operations`);
    const fault = world.faults.at?.get(number);
    if (!fault) return this.finish(operation);
    world.trace.operations[number] += ` (${toText(fault)})`;
    await this.goWrong(operation, fault);
  }

  private async goWrong(operation: Operation, fault: OperationFault): Promise<void> {
    switch (fault.kind) {
      case 'kill':
        if (fault.when === 'after') await this.takeEffect(operation);
        this.die(operation);
        return;
      case 'freeze':
        await this.freeze(operation, fault.when, fault.forMs);
        return;
      case 'fail':
        if (fault.when === 'after') await this.takeEffect(operation);
        await this.finish({ ...operation, effect: async () => failedAnswer(operation.label) });
        return;
      case 'doubt': {
        const isCommit = COMMITS.has(operation.label);
        if (isCommit) await this.takeEffect(operation);
        await this.finish(isCommit ? { ...operation, effect: async () => 'conflict' } : operation);
        return;
      }
      case 'refuse': {
        const isStart = operation.label === 'executions.start';
        await this.finish(isStart ? { ...operation, effect: async () => REFUSED_ANSWER } : operation);
      }
    }
  }

  private async freeze(operation: Operation, when: 'before' | 'after', forMs: number): Promise<void> {
    const wakeAt = this.world.now + forMs;
    if (when === 'before') {
      if (mayLinger(operation) || this.world.faults.freezeStarts) this.frozen.push({ operation, wakeAt });
      else await this.finish(operation);
      return;
    }
    const answer = await this.takeEffect(operation);
    this.frozen.push({ operation: { ...operation, effect: answer }, wakeAt });
  }

  /** Gives what answers as the call did, later or never. */
  private async takeEffect(operation: Operation): Promise<() => Promise<unknown>> {
    try {
      const value = await operation.effect();
      return async () => value;
    } catch (error) {
      return async () => {
        throw error;
      };
    } finally {
      this.world.check();
    }
  }

  private async finish(operation: Operation): Promise<void> {
    try {
      operation.answer(await operation.effect());
    } catch (error) {
      operation.fail(error);
    }
    await settle();
    this.world.check();
  }

  private die({ invocation }: Operation): void {
    const isOther = (operation: Operation) => operation.invocation !== invocation;
    this.waiting = this.waiting.filter(isOther);
    this.frozen = this.frozen.filter((frozen) => isOther(frozen.operation));
    this.world.onDeath(invocation);
  }
}

function failedAnswer(label: string): unknown {
  if (label === 'evaluator.evaluate') return [];
  if (!FAILED_ANSWERS.has(label)) throw new InjectedFailure(label);
  return FAILED_ANSWERS.get(label);
}

/** Calls before which the clock is looked at: what makes something that nothing later could refuse. */
const FENCED: ReadonlySet<string> = new Set(['executions.start', 'runs.createRun']);

/** Whether a call may be under way for long before it takes effect (see `faults.ts`). */
function mayLinger(operation: Operation): boolean {
  return !FENCED.has(operation.label);
}
