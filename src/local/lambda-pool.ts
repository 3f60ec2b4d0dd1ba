import { randomUUID } from 'node:crypto';
import type { PlannedKill } from '#local/chaos.ts';
import type { FunctionLog } from '#local/function-log.ts';
import type { Environment, EnvironmentExit, OpenEnvironment } from '#local/lambda-environment.ts';
import { exitError, killed, timeoutError } from '#local/lambda-errors.ts';
import type { FunctionError, RuntimeReport, RuntimeSettings } from '#local/lambda-runtime.ts';
import type { StartGate } from '#local/start-gate.ts';

/** A function as the host runs it. */
export type HostedFunction = {
  readonly settings: Omit<RuntimeSettings, 'logStreamName'>;
  /** The environment variables of its environments, whole. */
  readonly variables: Readonly<Record<string, string>>;
  /** Longest time of one invocation. */
  readonly timeoutMs: number;
  /** Most environments at a time; further invocations wait. */
  readonly maxEnvironments: number;
};

/** What came of an invocation. */
export type InvocationOutcome =
  | { readonly ok: true; readonly requestId: string /** JSON text. */; readonly payload: string }
  | { readonly ok: false; readonly requestId: string; readonly error: FunctionError };

/** An invocation to be made. */
export type InvocationRequest = {
  /** JSON text. */
  readonly event: string;
  /** JSON text of the client context. */
  readonly clientContext?: string;
};

/** What a pool needs from the host. */
export type PoolSurroundings = {
  readonly open: OpenEnvironment;
  readonly log: FunctionLog;
  /** Shared by all pools, so that a burst does not start more environments at once than the machine has cores. */
  readonly starts: StartGate;
  /** Told of each finished invocation; `ms` is the handler's time, and the loading of a new environment. */
  billed(ms: number): void;
  /** Chaos: whether and when the invocation that begins now dies with its environment. */
  planKill?(): PlannedKill | undefined;
};

type Call = {
  readonly request: InvocationRequest;
  readonly requestId: string;
  /** When it came; milliseconds of the monotonic clock. */
  readonly since: number;
  /** When an environment took it; milliseconds of the monotonic clock. */
  begun: number | undefined;
  /** Whether an environment died before it began. */
  isSecondTry: boolean;
  readonly settle: (outcome: InvocationOutcome) => void;
};

type Member = {
  environment: Environment | undefined;
  state: 'starting' | 'idle' | 'busy' | 'releasing' | 'dead';
  call: Call | undefined;
  /** Whose output a line is; the last invocation's while idle. */
  requestId: string | undefined;
  /** When opening it began; milliseconds of the monotonic clock. */
  readonly openedAt: number;
  /** Loading time, billed with the first invocation. */
  unbilledMs: number;
  timers: NodeJS.Timeout[];
};

/** What opening an environment is taken to last before one was opened, and at most. */
const openingMs = { first: 50, most: 250 };
/** An idle environment is given up after this time, except a pool's last one. */
const idleMs = 60_000;
/** How long loading a handler may take; Lambda's own limit is 10 s. */
const initMs = 10_000;

/**
 * The environments of one function. They are opened when invocations wait, kept warm and used again, one invocation at a
 * time each. An environment that dies takes its invocation with it, and only that.
 */
export class FunctionPool {
  readonly #function: HostedFunction;
  readonly #around: PoolSurroundings;
  readonly #members = new Set<Member>();
  readonly #idle: Member[] = [];
  readonly #waiting: Call[] = [];
  #started = 0;
  #closed = false;
  /** How long opening the last environment took. */
  #openingMs = openingMs.first;
  #patience: NodeJS.Timeout | undefined;

  constructor(hosted: HostedFunction, around: PoolSurroundings) {
    this.#function = hosted;
    this.#around = around;
    around.starts.onFree(() => this.#pump());
  }

  /** Resolves with what came of it; it never rejects. */
  invoke(request: InvocationRequest): Promise<InvocationOutcome> {
    return new Promise((settle) => {
      const call: Call = {
        request,
        requestId: randomUUID(),
        since: performance.now(),
        begun: undefined,
        isSecondTry: false,
        settle,
      };
      if (this.#closed) settleFailed(call, exitError(call.requestId, killed));
      else this.#waiting.push(call);
      this.#pump();
    });
  }

  /** Opens one environment before anything needs it. */
  warm(): void {
    if (this.#members.size === 0 && this.#around.starts.take()) this.#open();
  }

  /** Invocations waiting or under way. */
  get active(): number {
    return this.#waiting.length + [...this.#members].filter(({ call }) => call !== undefined).length;
  }

  /** Ends every environment at once; what was under way or waiting ends in an error. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#patience);
    for (const call of this.#waiting.splice(0)) settleFailed(call, exitError(call.requestId, killed));
    await Promise.all([...this.#members].map((member) => member.environment?.kill()));
  }

  #pump(): void {
    if (this.#closed) return;
    for (let member = this.#idle.at(-1); member !== undefined && this.#waiting.length > 0; member = this.#idle.at(-1)) {
      const call = this.#waiting.shift();
      this.#idle.pop();
      if (call !== undefined) this.#begin(member, call);
    }
    while (this.#members.size < this.#function.maxEnvironments && this.#needsAnother()) {
      if (!this.#around.starts.take()) return;
      this.#open();
    }
  }

  /**
   * Whether an invocation that no environment coming free will take has waited as long as opening another one takes; if
   * not yet, it is looked at again. So short invocations share few environments, and long ones get their own.
   */
  #needsAnother(): boolean {
    const call = this.#waiting[this.#comingFree()];
    if (call === undefined) return false;
    const patience = this.#members.size === 0 ? 0 : call.since + this.#openingMs - performance.now();
    if (patience <= 0) return true;
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => this.#pump(), patience);
    return false;
  }

  #comingFree(): number {
    return [...this.#members].filter(({ state }) => state === 'starting' || state === 'releasing').length;
  }

  #open(): void {
    const member: Member = {
      environment: undefined,
      state: 'starting',
      call: undefined,
      requestId: undefined,
      openedAt: performance.now(),
      unbilledMs: 0,
      timers: [],
    };
    this.#members.add(member);
    this.#started += 1;
    const logStreamName = `[$LATEST]${String(this.#started).padStart(8, '0')}`;
    member.environment = this.#around.open({ ...this.#function.settings, logStreamName }, this.#function.variables, {
      reported: (report) => this.#take(member, report),
      wrote: (line) => this.#around.log.line(line, member.requestId),
      exited: (exit) => this.#leave(member, exit),
    });
    member.timers = [this.#timeoutOf(member, Math.max(initMs, this.#function.timeoutMs))];
  }

  #begin(member: Member, call: Call): void {
    const { timeoutMs } = this.#function;
    clearTimers(member);
    member.state = 'busy';
    member.call = call;
    member.requestId = call.requestId;
    call.begun = performance.now();
    member.timers = [this.#timeoutOf(member, timeoutMs)];
    const kill = this.#around.planKill?.();
    if (kill !== undefined) member.timers.push(setTimeout(() => this.#carryOut(kill, member), kill.afterMs));
    member.environment?.invoke({ ...call.request, requestId: call.requestId, deadline: Date.now() + timeoutMs });
  }

  #carryOut(kill: PlannedKill, member: Member): void {
    kill.happened();
    this.#leave(member, killed);
  }

  #timeoutOf(member: Member, ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#fail(member, (requestId) => timeoutError(requestId, ms)), ms);
  }

  #take(member: Member, report: RuntimeReport): void {
    if (member.state === 'dead') return;
    if (report.kind === 'ready') {
      if (member.state !== 'starting') return;
      member.unbilledMs = report.ms;
      this.#openingMs = Math.min(performance.now() - member.openedAt, openingMs.most);
      this.#free(member);
      this.#around.starts.give();
    } else if (report.kind === 'unusable') {
      this.#giveBack(member);
      this.#fail(member, () => report.error);
    } else if (member.call?.requestId === report.requestId) {
      this.#finish(member, report);
    }
  }

  /**
   * An environment dies of what an earlier invocation left behind, such as a rejection that nobody handles: the one that
   * was handed to it meanwhile was not begun, and goes to another.
   */
  #giveBack(member: Member): void {
    const { call } = member;
    if (call === undefined || call.isSecondTry) return;
    call.isSecondTry = true;
    call.begun = undefined;
    member.call = undefined;
    this.#waiting.unshift(call);
  }

  #finish(member: Member, report: Extract<RuntimeReport, { requestId: string }>): void {
    const { call } = member;
    clearTimers(member);
    member.call = undefined;
    member.state = 'releasing';
    this.#around.billed(report.ms + member.unbilledMs);
    member.unbilledMs = 0;
    const { requestId } = report;
    if (report.kind === 'succeeded') call?.settle({ ok: true, requestId, payload: report.payload });
    else call?.settle({ ok: false, requestId, error: report.error });
    if (report.kind === 'failed' && report.isFatal === true) {
      this.#leave(member, killed);
      return;
    }
    // Output that is already here belongs to this invocation, and is read in this turn of the event loop.
    setImmediate(() => {
      if (member.state !== 'releasing') return;
      this.#free(member);
      this.#pump();
    });
  }

  #free(member: Member): void {
    clearTimers(member);
    member.state = 'idle';
    this.#idle.push(member);
    const timer = setTimeout(() => this.#retire(member), idleMs);
    timer.unref();
    member.timers = [timer];
  }

  #retire(member: Member): void {
    if (member.state !== 'idle' || this.#members.size === 1) return;
    this.#remove(member);
    void member.environment?.kill();
  }

  /** Kills an environment and lets its invocation, or the one that waits longest for it, end in an error. */
  #fail(member: Member, errorOf: (requestId: string) => FunctionError): void {
    if (member.state === 'dead') return;
    const wasStarting = member.state === 'starting';
    const call = member.call ?? (wasStarting ? this.#waiting.shift() : undefined);
    this.#remove(member);
    void member.environment?.kill();
    if (call !== undefined) {
      this.#around.billed(call.begun === undefined ? 0 : performance.now() - call.begun);
      settleFailed(call, errorOf(call.requestId));
    }
    if (wasStarting) this.#around.starts.give();
    this.#pump();
  }

  #leave(member: Member, exit: EnvironmentExit): void {
    this.#fail(member, (requestId) => exitError(requestId, exit));
  }

  #remove(member: Member): void {
    clearTimers(member);
    member.state = 'dead';
    this.#members.delete(member);
    const at = this.#idle.indexOf(member);
    if (at >= 0) this.#idle.splice(at, 1);
  }
}

function clearTimers(member: Member): void {
  for (const timer of member.timers) clearTimeout(timer);
  member.timers = [];
}

function settleFailed(call: Call, error: FunctionError): void {
  call.settle({ ok: false, requestId: call.requestId, error });
}
