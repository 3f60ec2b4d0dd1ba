/**
 * A world in which nothing goes wrong: the real pass over the memory adapters, one batch of the inbox after the other,
 * in a time of its own. What it takes of the machine's time is what the scheduler itself computes.
 */
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { createMemoryDueIndex } from '#adapters/memory/memory-due-index.ts';
import { createMemoryExecutions, type MemoryExecution } from '#adapters/memory/memory-executions.ts';
import { createCountingIds } from '#adapters/memory/memory-ids.ts';
import { createMemoryLimitStore } from '#adapters/memory/memory-limit-store.ts';
import { createMemoryMemo } from '#adapters/memory/memory-memo.ts';
import { createMemoryPayloads } from '#adapters/memory/memory-payloads.ts';
import { createMemoryPipelineStore } from '#adapters/memory/memory-pipeline-store.ts';
import { createMemoryReports } from '#adapters/memory/memory-reports.ts';
import { createMemoryRunStore } from '#adapters/memory/memory-run-store.ts';
import type { PipelineDefinition } from '#domain/definition.ts';
import { DEFAULT_STEP_OPTIONS } from '#domain/draft.ts';
import { isRunOver, type RunRecord } from '#domain/run.ts';
import type { DueThing, Evaluator, Inbox } from '#ports/index.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { workBatch } from '#scheduler/inbox-batch.ts';
import { startRun } from '#scheduler/start-run.ts';
import { runTick } from '#scheduler/tick.ts';
import { type CallCount, countedPort } from './counted-port.ts';
import { measureWrites, type Written } from './written-items.ts';

const BEGINNING = Date.UTC(2026, 10, 30, 8);
/** What an invocation of the scheduler, and an execution, take of the world's time, at least and at most (ms). */
const INVOCATION_MS = [30, 70] as const;
const EXECUTION_MS = [500, 1_500] as const;
const SEED = 7;
const EVENT_DELAY_MS = 10;
const BATCH_SIZE = 10;
/** A run that takes longer in the world's time has come to a stop. */
const LONGEST_MS = 24 * 3600 * 1000;

/** What to play. */
export interface Play {
  readonly definition: PipelineDefinition;
  readonly evaluator: Evaluator;
  /** The output of an execution, as JSON text. @default `{}` */
  readonly outputOf?: (input: { readonly node: string; readonly item?: number | undefined }) => string;
  /** What an execution takes, at least and at most (ms). @default half a second to one and a half */
  readonly executionMs?: readonly [least: number, most: number];
  /** Also measure what is written, which takes time itself. @default false */
  readonly isMeasured?: boolean;
}

/** What a run took. */
export interface Played {
  readonly run: RunRecord;
  readonly seconds: number;
  /** Of the processor, in all threads. */
  readonly cpuSeconds: number;
  /** Batches of the inbox; each is a pass. */
  readonly batches: number;
  /** By `<port>.<call>`. */
  readonly counts: ReadonlyMap<string, CallCount>;
  /** By the call of the store; empty where it was not measured. */
  readonly written: ReadonlyMap<string, Written>;
}

/**
 * Plays a run to its end.
 * @throws Error where a pass fails, or the run does not succeed
 */
export async function playQuietly(play: Play): Promise<Played> {
  const world = new QuietWorld(play);
  await world.deps.pipelines.putDefinition(play.definition.name, 'i', 'r', play.definition, BEGINNING);
  const { name } = play.definition;
  const head = { name, incarnation: 'i', revision: 'r', version: 1, createdAt: BEGINNING, updatedAt: BEGINNING };
  await world.deps.pipelines.commitHead(head, 0);
  const begun = performance.now();
  const cpuBefore = process.cpuUsage();
  const started = await startRun(world.deps, { pipeline: name, trigger: { type: 'api' } });
  if (started.kind !== 'started') throw new Error(`the run was not started: ${started.kind}`);
  const run = await world.untilOver(started.run.id);
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  if (run.state !== 'SUCCEEDED') throw new Error(`the run ${run.state}: ${JSON.stringify(run.firstBad ?? run.error)}`);
  const { batches, counts, written } = world;
  return { run, seconds, cpuSeconds: (user + system) / 1e6, batches, counts, written };
}

/** The world itself, for benches that play more than one run. */
export class QuietWorld {
  readonly deps: PassDeps;
  readonly counts = new Map<string, CallCount>();
  readonly written = new Map<string, Written>();
  batches = 0;
  private readonly end: (name: string, output: string) => void;
  private now = BEGINNING;
  private nextTickAt = BEGINNING + DEFAULT_STEP_OPTIONS.tickMs;
  /** What happens later, soonest first. */
  private readonly later: { readonly at: number; readonly happen: () => void }[] = [];
  private readonly ready: string[] = [];
  private readonly stored = createMemoryRunStore();
  private readonly random = xoroshiro128plus(SEED);

  constructor(play: Play) {
    const clock = { now: () => this.now };
    const executions = createMemoryExecutions(clock, (execution) => this.onExecution(execution, play));
    const runs = play.isMeasured ? measureWrites(this.stored, clock, this.written) : this.stored;
    const limits = createMemoryLimitStore();
    const pipelines = createMemoryPipelineStore();
    const counted = <T extends object>(name: string, port: T) => countedPort(name, port, this.counts);
    this.deps = {
      runs: counted('runs', runs),
      limits: counted('limits', limits),
      pipelines: counted('pipelines', pipelines),
      due: counted(
        'due',
        createMemoryDueIndex({ run: this.stored.stored, limit: limits.stored, pipeline: pipelines.stored }),
      ),
      memo: counted('memo', createMemoryMemo()),
      reports: counted('reports', createMemoryReports()),
      payloads: counted('payloads', createMemoryPayloads()),
      executions: counted('executions', executions),
      inbox: counted('inbox', this.inbox()),
      bus: counted('bus', { publish: async () => {} }),
      evaluator: counted('evaluator', play.evaluator),
      clock,
      ids: createCountingIds(),
      engines: new Map([['lambda', { stateMachineArn: 'arn:aws:states:us-east-1:0:stateMachine:lambda' }]]),
      installation: 'bench',
      options: DEFAULT_STEP_OPTIONS,
    };
    this.end = (name, output) => executions.end(name, { status: 'SUCCEEDED', output });
  }

  /** Plays until a run is over, and owes nothing. */
  async untilOver(runId: string): Promise<RunRecord> {
    let run: RunRecord | undefined;
    await this.until(async () => {
      run = await this.stored.readRun(runId);
      return run !== undefined && isRunOver(run.state) && run.dueAt === undefined;
    });
    return run as RunRecord;
  }

  /** Hands over batches, and lets time pass where there is none, until all is quiet and something holds. */
  async until(holds: () => Promise<boolean>): Promise<void> {
    const begun = this.now;
    while (this.now - begun < LONGEST_MS) {
      await this.pass();
      if (!(await this.handOver()) && (await holds())) return;
    }
    throw new Error('it does not come to be');
  }

  /** Plays for a time (ms, of the world). */
  async playFor(ms: number): Promise<void> {
    const end = this.now + ms;
    while (this.now < end) {
      await this.pass();
      await this.handOver();
    }
  }

  /** The time of the world (ms since the epoch). */
  get time(): number {
    return this.now;
  }

  /** The runs of the world, as they are stored. */
  async runs(): Promise<RunRecord[]> {
    const all = await Promise.all([...this.stored.stored.keys()].map((id) => this.stored.readRun(id)));
    return all.filter((run) => run !== undefined);
  }

  /** Hands one batch over, if there is one. */
  private async handOver(): Promise<boolean> {
    const messages = this.ready.splice(0, BATCH_SIZE).map((body, at) => ({ messageId: String(at), body }));
    if (messages.length === 0) return false;
    this.batches += 1;
    await workBatch(this.deps, messages, (what, error) => {
      throw new Error(what, { cause: error });
    });
    return true;
  }

  /** Goes on by an invocation, or to the next thing that happens where nothing is ready. */
  private async pass(): Promise<void> {
    this.now += this.draw(INVOCATION_MS);
    if (this.ready.length === 0)
      this.now = Math.max(this.now, Math.min(this.later[0]?.at ?? Infinity, this.nextTickAt));
    while (this.later[0] && this.later[0].at <= this.now) this.later.shift()?.happen();
    if (this.nextTickAt > this.now) return;
    this.nextTickAt += DEFAULT_STEP_OPTIONS.tickMs;
    await runTick(this.deps);
  }

  private draw([least, most]: readonly [number, number]): number {
    return uniformInt(this.random, least, most);
  }

  private schedule(delayMs: number, happen: () => void): void {
    const at = this.now + delayMs;
    const before = this.later.findLastIndex((entry) => entry.at <= at);
    this.later.splice(before + 1, 0, { at, happen });
  }

  private send(message: object, delayMs: number): void {
    this.schedule(delayMs, () => this.ready.push(JSON.stringify(message)));
  }

  private inbox(): Inbox {
    const ringThing = async ({ kind, id }: DueThing, delaySeconds = 0) =>
      this.send({ kind: 'ring', [kind]: id }, delaySeconds * 1000);
    return {
      ring: (id, delaySeconds) => ringThing({ kind: 'run', id }, delaySeconds),
      ringThing,
      ringAbout: async (run, about) => this.send({ kind: 'ring', run, about }, 0),
      ringAll: async (things) => {
        for (const thing of things) await ringThing(thing);
      },
    };
  }

  private onExecution(execution: MemoryExecution, { outputOf = () => '{}', executionMs = EXECUTION_MS }: Play): void {
    const { name, status, output, startedAt, endedAt } = execution;
    if (status === 'RUNNING') {
      const { millrace } = JSON.parse(execution.input) as { millrace: { node: string; item?: number } };
      this.schedule(this.draw(executionMs), () => this.end(name, outputOf(millrace)));
    } else {
      this.send({ kind: 'execution', name, status, output, startDate: startedAt, stopDate: endedAt }, EVENT_DELAY_MS);
    }
  }
}
