/** What every Step Functions promises. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExecutionStatus } from '#domain/facts.ts';
import type { ErrorInfo } from '#domain/run.ts';
import type { ExecutionSeen, Executions } from '#ports/index.ts';
import { ODD_TEXTS } from './sample-run.ts';

/** How a test has an execution end. */
export interface ExecutionEnding {
  readonly status: ExecutionStatus;
  readonly output?: string;
  readonly error?: ErrorInfo;
}

/** A fresh Step Functions, whose executions run until the test ends them. */
export interface ExecutionsHarness {
  readonly executions: Executions;
  /** ARNs of state machines: two whose executions run until they are ended, and one whose time is over after a second. */
  readonly machines: { readonly one: string; readonly other: string; readonly brief: string };
  /** Ends a running execution of `one`; one of `brief` comes to its time limit. Resolves when it is over. */
  end(name: string, end: ExecutionEnding): Promise<void>;
  /** When every execution starts and ends (ms since the epoch), where the backend's clock stands still. */
  readonly times?: { readonly startedAt: number; readonly endedAt: number };
  /** Takes a state machine away, where every one is there that is named. */
  remove?(machine: string): void;
  close(): Promise<void>;
}

/** Where a backend is not what AWS is; what AWS does holds for all others. */
export interface ExecutionsDifferences {
  /** It has no `TimeoutSeconds` of a state machine, and never the status TIMED_OUT. */
  readonly neverTimesOut?: true;
  /** An execution that failed has an output, which is null on AWS. */
  readonly failsWithOutput?: true;
  /** StopExecution is refused where an execution has come to an end of its own. AWS lists no such error. */
  readonly refusesStopOfEnded?: true;
}

/** Waits of the slowest backend (ms). */
const POLL = { timeout: 20_000, interval: 20 };

/** What every execution is given; `name` tells the test which one asks to be ended. */
const inputOf = (name: string, more: object = {}) => JSON.stringify({ name, ...more });

export function describeExecutions(
  backend: string,
  open: () => Promise<ExecutionsHarness>,
  differences: ExecutionsDifferences = {},
): void {
  describe(`Executions on ${backend}`, () => {
    let harness: ExecutionsHarness;
    let executions: Executions;
    let one: string;
    let other: string;

    beforeEach(async () => {
      harness = await open();
      executions = harness.executions;
      ({ one, other } = harness.machines);
    });
    afterEach(() => harness.close());

    it('T48 starts an execution once, whoever asks again', async () => {
      expect(await executions.start(one, 'a', inputOf('a'))).toEqual({ kind: 'started' });
      expect(['started', 'exists']).toContain((await executions.start(one, 'a', inputOf('a'))).kind);
      expect(await executions.start(one, 'a', inputOf('a', { other: 1 }))).toEqual({ kind: 'exists' });
      expect(await executions.describe(one, 'a')).toEqual({ kind: 'running', startedAt: expect.any(Number) });
    });

    it('T48 starts one of many that ask at once', async () => {
      const asked = Array.from({ length: 8 }, () => executions.start(one, 'a', inputOf('a')));
      const answers = (await Promise.all(asked)).map(({ kind }) => kind);
      expect(answers).toContain('started');
      expect(answers.every((kind) => kind === 'started' || kind === 'exists')).toBe(true);
      const listed = await executions.listRunning(one);
      expect(listed.kind === 'listed' && [...listed.startedAt.keys()]).toEqual(['a']);
    });

    it('starts nothing of a state machine that is not there', async () => {
      const gone = `${one}-gone`;
      harness.remove?.(gone);
      expect(await executions.start(gone, 'a', inputOf('a'))).toMatchObject({ kind: 'refused', isMachineGone: true });
      expect(await executions.findMachine(gone)).toEqual({ kind: 'missing' });
      expect(await executions.findMachine(one)).toEqual({ kind: 'there', isStandard: true });
    });

    it('keeps a name taken once its execution is over', async () => {
      await executions.start(one, 'a', inputOf('a'));
      await harness.end('a', { status: 'SUCCEEDED', output: '1' });
      expect(await executions.start(one, 'a', inputOf('a'))).toEqual({ kind: 'exists' });
      expect(await executions.describe(one, 'a')).toMatchObject({ kind: 'ended', output: '1' });
    });

    it('keeps state machines apart', async () => {
      await executions.start(one, 'a', inputOf('a'));
      expect(await executions.describe(other, 'a')).toEqual({ kind: 'missing' });
      expect(await executions.start(other, 'a', inputOf('a', { other: 1 }))).toEqual({ kind: 'started' });
    });

    const output = JSON.stringify({ odd: ODD_TEXTS });
    it.each<ExecutionEnding>([
      { status: 'SUCCEEDED', output },
      { status: 'FAILED', error: { name: 'BadInput', message: ODD_TEXTS.join('\n') } },
      { status: 'ABORTED' },
    ])('tells how an execution ended, and when: $status', async (end) => {
      const asked = Date.now();
      await executions.start(one, end.status, inputOf(end.status));
      await harness.end(end.status, end);
      const seen = await executions.describe(one, end.status);
      expect(asCompared(seen)).toEqual(asCompared({ kind: 'ended', ...end, ...anyTimes() }));
      expectTimes(seen, asked);
    });

    it.skipIf(differences.neverTimesOut)('tells that the time of an execution was over', async () => {
      const { brief } = harness.machines;
      await executions.start(brief, 'a', inputOf('a'));
      await harness.end('a', { status: 'TIMED_OUT' });
      await expect.poll(() => executions.describe(brief, 'a'), POLL).toMatchObject({ kind: 'ended' });
      const seen = await executions.describe(brief, 'a');
      expect(seen).toMatchObject({ kind: 'ended', status: 'TIMED_OUT', ...anyTimes() });
      if (seen.kind === 'ended' && seen.error) expect(seen.error.name).toBe('States.Timeout');
    });

    const anyTimes = () => harness.times ?? { startedAt: expect.any(Number), endedAt: expect.any(Number) };

    /** Nobody promises the bytes of an output: it is JSON, and may be written anew. */
    function asCompared(seen: ExecutionSeen) {
      if (seen.kind !== 'ended') return seen;
      const { output, ...rest } = seen;
      const isIgnored = output === undefined || (differences.failsWithOutput && seen.status === 'FAILED');
      return { ...rest, ...(!isIgnored && { value: JSON.parse(output) }) };
    }

    /** Clocks of a backend that runs on this machine are this machine's; whole milliseconds may be cut. */
    function expectTimes(seen: ExecutionSeen, asked: number): void {
      if (harness.times || seen.kind !== 'ended') return;
      expect(seen.startedAt).toBeGreaterThan(asked - 1_000);
      expect(seen.endedAt).toBeGreaterThanOrEqual(seen.startedAt);
      expect(seen.endedAt).toBeLessThan(Date.now() + 1_000);
    }

    it('knows nothing of what was never started', async () => {
      expect(await executions.describe(one, 'never')).toEqual({ kind: 'missing' });
      expect(await executions.stop(one, 'never', 'why')).toBe('missing');
    });

    it('lists what runs of a state machine, with the time of its start', async () => {
      expect(await executions.listRunning(one)).toEqual({ kind: 'listed', startedAt: new Map() });
      for (const name of ['a', 'b', 'c', 'd']) await executions.start(one, name, inputOf(name));
      await executions.start(other, 'e', inputOf('e'));
      await harness.end('b', { status: 'SUCCEEDED', output: '1' });
      await executions.stop(one, 'c', 'why');
      const startedAt = new Map<string, number>();
      for (const name of ['a', 'd']) {
        const seen = await executions.describe(one, name);
        if (seen.kind === 'running') startedAt.set(name, seen.startedAt);
      }
      expect(startedAt.size).toBe(2);
      expect(await executions.listRunning(one)).toEqual({ kind: 'listed', startedAt });
    });

    it('lists a thousand a page, and no more pages than are asked for', async () => {
      const names = Array.from({ length: 2_500 }, (_, place) => `n${place}`);
      for (let at = 0; at < names.length; at += 50) {
        await Promise.all(names.slice(at, at + 50).map((name) => executions.start(one, name, inputOf(name))));
      }
      for (const [pages, count] of [
        [undefined, 1_000],
        [2, 2_000],
        [3, 2_500],
        [9, 2_500],
      ] as const) {
        const listed = await executions.listRunning(one, pages);
        expect(listed.kind === 'listed' && listed.startedAt.size).toBe(count);
      }
    });

    it('T48 stops a running execution, and leaves one that is over as it is', async () => {
      await executions.start(one, 'a', inputOf('a'));
      expect(await executions.stop(one, 'a', 'why')).toBe('accepted');
      expect(await executions.describe(one, 'a')).toMatchObject({ kind: 'ended', status: 'ABORTED' });
      expect(await executions.stop(one, 'a', 'why')).toBe('accepted');
      await executions.start(one, 'b', inputOf('b'));
      await harness.end('b', { status: 'SUCCEEDED', output: '1' });
      const answer = differences.refusesStopOfEnded ? 'unanswered' : 'accepted';
      expect(await executions.stop(one, 'b', 'why')).toBe(answer);
      expect(await executions.describe(one, 'b')).toMatchObject({ kind: 'ended', status: 'SUCCEEDED' });
    });
  });
}
