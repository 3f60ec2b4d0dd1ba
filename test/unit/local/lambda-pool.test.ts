import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Environment, EnvironmentListener } from '#local/lambda-environment.ts';
import { FunctionPool, type InvocationOutcome } from '#local/lambda-pool.ts';
import type { RuntimeInvocation } from '#local/lambda-runtime.ts';
import { StartGate } from '#local/start-gate.ts';

/** After this time an invocation that waits gets an environment of its own, before one was ever opened. */
const PATIENCE_MS = 50;

/** An environment that does what the test says. */
class FakeEnvironment implements Environment {
  readonly listener: EnvironmentListener;
  readonly invocations: RuntimeInvocation[] = [];
  killed = false;

  constructor(listener: EnvironmentListener) {
    this.listener = listener;
  }

  invoke(invocation: RuntimeInvocation): void {
    this.invocations.push(invocation);
  }

  async kill(): Promise<void> {
    this.killed = true;
    this.listener.exited({ code: null, signal: 'SIGKILL' });
  }

  ready(ms = 0): void {
    this.listener.reported({ kind: 'ready', ms });
  }

  succeed(payload = '1', ms = 5): void {
    this.listener.reported({ kind: 'succeeded', requestId: this.#requestId, payload, ms });
  }

  fail(isFatal = false): void {
    const error = { errorType: 'Oops', errorMessage: 'no', trace: [] };
    this.listener.reported({ kind: 'failed', requestId: this.#requestId, error, ms: 5, isFatal });
  }

  get #requestId(): string {
    return this.invocations.at(-1)?.requestId ?? '';
  }
}

function createPool(options: { maxEnvironments?: number; atOnce?: number; killAfterMs?: number } = {}) {
  const environments: FakeEnvironment[] = [];
  const lines: [string, string | undefined][] = [];
  const billed: number[] = [];
  const happened = vi.fn();
  const pool = new FunctionPool(
    {
      settings: { functionName: 'f', functionArn: 'arn', memoryMb: 128, handler: 'index.handler', taskRoot: '/' },
      variables: {},
      timeoutMs: 3000,
      maxEnvironments: options.maxEnvironments ?? 2,
    },
    {
      open: (_settings, _variables, listener) => {
        const environment = new FakeEnvironment(listener);
        environments.push(environment);
        return environment;
      },
      log: { line: (text, requestId) => lines.push([text, requestId]), close: async () => {} },
      starts: new StartGate(options.atOnce ?? 2),
      billed: (ms) => billed.push(ms),
      planKill: () => (options.killAfterMs === undefined ? undefined : { afterMs: options.killAfterMs, happened }),
    },
  );
  const invoke = (event = '{}') => pool.invoke({ event });
  const at = (index: number): FakeEnvironment => {
    const environment = environments[index];
    if (environment === undefined) throw new Error(`there is no environment ${index}`);
    return environment;
  };
  return { pool, invoke, environments, at, lines, billed, happened };
}

function errorOf(outcome: InvocationOutcome): string {
  return outcome.ok
    ? 'none'
    : `${outcome.error.errorType}: ${outcome.error.errorMessage.replace(outcome.requestId, 'ID')}`;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('FunctionPool', () => {
  it('uses a warm environment again, one invocation at a time', async () => {
    const { invoke, environments, at } = createPool();
    const first = invoke('"a"');
    at(0).ready();
    at(0).succeed('"one"');
    expect(await first).toMatchObject({ ok: true, payload: '"one"' });
    const second = invoke('"b"');
    expect(at(0).invocations).toHaveLength(1);
    vi.runAllTicks();
    await vi.advanceTimersByTimeAsync(0);
    at(0).succeed();
    await second;
    expect(environments).toHaveLength(1);
    expect(at(0).invocations.map(({ event }) => event)).toEqual(['"a"', '"b"']);
  });

  it('opens no more environments than it may; further invocations wait their turn', async () => {
    const { pool, invoke, environments, at } = createPool({ maxEnvironments: 2 });
    const all = ['1', '2', '3', '4'].map((event) => invoke(event));
    await vi.advanceTimersByTimeAsync(PATIENCE_MS);
    expect([environments.length, pool.active]).toEqual([2, 4]);
    at(0).ready();
    at(1).ready();
    for (const index of [0, 1]) at(index).succeed();
    await vi.advanceTimersByTimeAsync(0);
    for (const index of [0, 1]) at(index).succeed();
    expect((await Promise.all(all)).every(({ ok }) => ok)).toBe(true);
    expect(environments).toHaveLength(2);
  });

  it('lets only so many environments load at the same time', async () => {
    const { invoke, environments, at } = createPool({ maxEnvironments: 5, atOnce: 1 });
    for (const event of ['1', '2', '3']) void invoke(event);
    await vi.advanceTimersByTimeAsync(PATIENCE_MS);
    expect(environments).toHaveLength(1);
    at(0).ready();
    expect(environments).toHaveLength(2);
  });

  it('lets an invocation wait for a warm environment as long as opening another one takes', async () => {
    const { invoke, environments, at } = createPool();
    void invoke('1');
    await vi.advanceTimersByTimeAsync(200);
    at(0).ready();
    void invoke('2');
    await vi.advanceTimersByTimeAsync(150);
    at(0).succeed();
    await vi.advanceTimersByTimeAsync(100);
    expect([environments.length, at(0).invocations.length]).toEqual([1, 2]);
    void invoke('3');
    await vi.advanceTimersByTimeAsync(199);
    expect(environments).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(environments).toHaveLength(2);
  });

  it('kills an environment at the time limit, and the next invocation gets a new one', async () => {
    const { invoke, at, billed } = createPool();
    const slow = invoke();
    at(0).ready();
    await vi.advanceTimersByTimeAsync(3000);
    expect(errorOf(await slow)).toBe('Sandbox.Timedout: RequestId: ID Error: Task timed out after 3.00 seconds');
    expect(at(0).killed).toBe(true);
    expect(billed).toEqual([3000]);
    const next = invoke();
    at(1).ready();
    at(1).succeed();
    expect((await next).ok).toBe(true);
  });

  it.each([
    [{ code: 3 }, 'Runtime exited with error: exit status 3'],
    [{ code: 0 }, 'Runtime exited without providing a reason'],
    [{ code: null, signal: 'SIGSEGV' }, 'Runtime exited with error: signal: segmentation fault'],
  ])('says how an environment ended under its invocation: %j', async (exit, message) => {
    const { invoke, at } = createPool();
    const invocation = invoke();
    at(0).ready();
    at(0).listener.exited(exit);
    expect(errorOf(await invocation)).toBe(`Runtime.ExitError: RequestId: ID Error: ${message}`);
  });

  it('hands nothing more to an environment that reported a fatal error', async () => {
    const { invoke, at } = createPool({ maxEnvironments: 1 });
    const [first, second] = [invoke('1'), invoke('2')];
    at(0).ready();
    at(0).fail(true);
    expect(errorOf(await first)).toBe('Oops: no');
    at(1).ready();
    at(1).succeed();
    expect((await second).ok).toBe(true);
  });

  it('fails the invocation that waits longest when a handler cannot be loaded, and tries anew for the others', async () => {
    const { invoke, at } = createPool({ maxEnvironments: 1 });
    const [first, second] = [invoke('1'), invoke('2')];
    const error = { errorType: 'Runtime.HandlerNotFound', errorMessage: 'index.handler is undefined', trace: [] };
    at(0).listener.reported({ kind: 'unusable', error });
    expect(errorOf(await first)).toBe('Runtime.HandlerNotFound: index.handler is undefined');
    at(1).ready();
    at(1).succeed();
    expect((await second).ok).toBe(true);
  });

  it('kills an environment where chaos says so, and counts only what happened', async () => {
    const { invoke, at, happened } = createPool({ killAfterMs: 10 });
    const quick = invoke();
    at(0).ready();
    at(0).succeed();
    expect((await quick).ok).toBe(true);
    await vi.advanceTimersByTimeAsync(100);
    expect(happened).not.toHaveBeenCalled();
    const slow = invoke();
    await vi.advanceTimersByTimeAsync(10);
    expect(errorOf(await slow)).toContain('signal: killed');
    expect(happened).toHaveBeenCalledOnce();
  });

  it('bills loading with the first invocation', async () => {
    const { invoke, at, billed } = createPool();
    const first = invoke();
    at(0).ready(200);
    at(0).succeed('1', 7);
    await first;
    await vi.advanceTimersByTimeAsync(0);
    const second = invoke();
    at(0).succeed('1', 7);
    await second;
    expect(billed).toEqual([207, 7]);
  });

  it('marks output with the invocation that wrote it', async () => {
    const { invoke, at, lines } = createPool();
    const invocation = invoke();
    at(0).listener.wrote('loading');
    at(0).ready();
    at(0).listener.wrote('working');
    const requestId = at(0).invocations[0]?.requestId;
    at(0).succeed();
    at(0).listener.wrote('last words');
    await invocation;
    expect(lines).toEqual([
      ['loading', undefined],
      ['working', requestId],
      ['last words', requestId],
    ]);
  });

  it('gives up idle environments after a minute, but keeps one', async () => {
    const { invoke, at } = createPool();
    const both = [invoke('1'), invoke('2')];
    await vi.advanceTimersByTimeAsync(PATIENCE_MS);
    for (const index of [0, 1]) at(index).ready();
    for (const index of [0, 1]) at(index).succeed();
    await Promise.all(both);
    await vi.advanceTimersByTimeAsync(61_000);
    expect([at(0).killed, at(1).killed].filter(Boolean)).toHaveLength(1);
  });

  it('ends everything when it closes', async () => {
    const { pool, invoke, at } = createPool({ maxEnvironments: 1 });
    const both = [invoke('1'), invoke('2')];
    at(0).ready();
    await pool.close();
    expect((await Promise.all(both)).map(errorOf)).toEqual(Array(2).fill(expect.stringContaining('signal: killed')));
    expect(errorOf(await invoke())).toContain('signal: killed');
  });
});
