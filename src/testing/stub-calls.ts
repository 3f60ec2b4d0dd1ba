/** The code of a test's attempts: each execution that starts calls the stub that stands for its function or engine. */
import type { ExecutionEnd, MemoryExecution } from '#adapters/memory/memory-executions.ts';
import type { JsonObject } from '#domain/json.ts';
import type { ExecutionEnds } from './execution-ends.ts';
import type { Happening } from './stage.ts';
import { LaterAnswer, type Stub, type StubContext } from './stubs.ts';

/** How long an attempt takes whose stub does not say so (virtual ms). */
const USUAL_MS = 100;
/** The longest that Lambda runs a function (ms). */
const LONGEST_LAMBDA_MS = 900_000;
/** How long a promise of a stub may take to settle (ms of real time), before its test would be cut without a word. */
const PATIENCE_MS = 4_000;

/** A call of a stub: an attempt that was started. */
export interface StubCall {
  readonly pipeline: string;
  readonly node: string;
  readonly attempt: number;
  /** Index of the item, for a node with a map. */
  readonly item?: number;
  readonly engine: string;
  /** Name of the function, for the engine `lambda`. */
  readonly function?: string;
  readonly payload: unknown;
  /** Virtual time since the creation of the run that is tested (ms). */
  readonly at: number;
}

/** What stands for functions and engines, by name. */
export interface Stubs {
  readonly functions: ReadonlyMap<string, Stub>;
  readonly engines: ReadonlyMap<string, Stub>;
}

/** What calls have to know about their world. */
export interface CallWorld {
  readonly now: number;
  readonly beganAt: number;
  breaks(what: string): void;
  pipelineOf(run: string): string;
}

interface ExecutionText {
  readonly millrace: StubContext['clientContext'];
  readonly params: JsonObject;
}

/** The calls of a world. */
export class StubCalls implements Happening {
  /** All calls up to now, in order. */
  readonly made: StubCall[] = [];
  private readonly pending = new Set<Promise<void>>();
  private readonly world: CallWorld;
  private readonly stubs: Stubs;
  private readonly ends: ExecutionEnds;

  constructor(world: CallWorld, stubs: Stubs, ends: ExecutionEnds) {
    this.world = world;
    this.stubs = stubs;
    this.ends = ends;
  }

  isBusy(): boolean {
    return this.pending.size > 0;
  }

  nextAt(): number {
    return Number.POSITIVE_INFINITY;
  }

  act(): void {}

  /** An execution of an engine starts. */
  begin(execution: MemoryExecution, engine: string): void {
    const { millrace, params } = JSON.parse(execution.input) as ExecutionText;
    const name = engine === 'lambda' ? String(params['function']) : undefined;
    const stub = (name === undefined ? undefined : this.stubs.functions.get(name)) ?? this.stubs.engines.get(engine);
    if (stub === undefined) {
      this.world.breaks(`nothing stands for the function ${JSON.stringify(name)}, which node ${millrace.node} calls`);
      return;
    }
    const payload = name === undefined ? params : params['payload'];
    const call: Call = { stub, payload, context: this.contextOf(millrace, engine, name) };
    const { timeoutSeconds: _limit, token: _secret, run: _id, ...attempt } = millrace;
    const { pipeline } = call.context;
    const at = this.world.now - this.world.beganAt;
    this.made.push({ pipeline, ...attempt, engine, ...(name !== undefined && { function: name }), payload, at });
    const settled = answerOf(call).then((answer) => this.plan(execution, engine, millrace.timeoutSeconds, answer));
    const counted = settled.finally(() => this.pending.delete(counted));
    this.pending.add(counted);
  }

  /**
   * Waits until the promises of all calls are settled: virtual time stands still meanwhile.
   * @throws Error where one takes seconds of real time
   */
  async settled(): Promise<void> {
    if (this.pending.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const out = new Promise<'out'>((resolve) => {
      timer = setTimeout(() => resolve('out'), PATIENCE_MS);
    });
    const first = await Promise.race([out, Promise.all(this.pending)]);
    clearTimeout(timer);
    if (first !== 'out') return;
    const { node, function: name } = this.made.at(-1) as StubCall;
    throw new Error(
      `the stub of ${name ?? 'an engine'} (node ${node}) has not answered in ${PATIENCE_MS} ms of real time; hang() stands for one that never does`,
    );
  }

  private contextOf(
    clientContext: StubContext['clientContext'],
    engine: string,
    functionName: string | undefined,
  ): StubContext {
    const { run, node, attempt, item, timeoutSeconds } = clientContext;
    return {
      run,
      pipeline: this.world.pipelineOf(run),
      node,
      attempt,
      ...(item !== undefined && { item }),
      engine,
      now: this.world.now,
      ...(functionName !== undefined && { functionName }),
      clientContext,
      getRemainingTimeInMillis: () => Math.min(timeoutSeconds * 1000, LONGEST_LAMBDA_MS),
    };
  }

  private plan(execution: MemoryExecution, engine: string, timeoutSeconds: number, answer: Answer): void {
    if (execution.status !== 'RUNNING') return;
    const at = execution.startedAt + answer.afterMs;
    const outAt = engine === 'lambda' ? execution.startedAt + timeoutSeconds * 1000 : Number.POSITIVE_INFINITY;
    // The machine of the built-in engine ends an attempt that is out of time by itself; others are stopped.
    if (at >= outAt) this.ends.plan({ at: outAt, execution, end: OUT_OF_TIME });
    else if (Number.isFinite(at)) this.ends.plan({ at, execution, end: answer.end });
  }
}

const OUT_OF_TIME: ExecutionEnd = { status: 'FAILED', error: { name: 'States.Timeout', message: '' } };

interface Answer {
  readonly afterMs: number;
  readonly end: ExecutionEnd;
}

interface Call {
  readonly stub: Stub;
  readonly payload: unknown;
  readonly context: StubContext;
}

async function answerOf({ stub, payload, context }: Call): Promise<Answer> {
  let afterMs = USUAL_MS;
  try {
    const given = await (typeof stub === 'function' ? stub(structuredClone(payload), context) : stub);
    const isLater = given instanceof LaterAnswer;
    if (isLater) afterMs = given.afterMs;
    const value: unknown = isLater ? given.value : given;
    const output: unknown = isLater && typeof value === 'function' ? await value() : value;
    return { afterMs, end: { status: 'SUCCEEDED', output: JSON.stringify(output) ?? 'null' } };
  } catch (error) {
    return { afterMs, end: { status: 'FAILED', error: toErrorInfo(error) } };
  }
}

/** What is thrown, as Lambda's runtime tells it. */
function toErrorInfo(thrown: unknown): { name: string; message: string } {
  if (thrown instanceof Error) return { name: thrown.name, message: thrown.message };
  return { name: typeof thrown, message: String(thrown) };
}
