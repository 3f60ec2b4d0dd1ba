/** What every Step Functions promises. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { ExecutionStatus } from '#domain/facts.ts';
import type { ErrorInfo } from '#domain/run.ts';
import type { Executions } from '#ports/index.ts';
import { CREATED, ODD_TEXTS } from './sample-run.ts';

/** A fresh Step Functions, whose executions run until the test ends them. */
export interface ExecutionsHarness {
  readonly executions: Executions;
  /** Ends a running execution one second after it started. */
  end(
    name: string,
    end: { readonly status: ExecutionStatus; readonly output?: string; readonly error?: ErrorInfo },
  ): void;
}

const MACHINE = 'arn:aws:states:eu-central-1:123456789012:stateMachine:millrace-lambda';
const OTHER = 'arn:aws:states:eu-central-1:123456789012:stateMachine:millrace-other';

export function describeExecutions(backend: string, open: () => Promise<ExecutionsHarness>): void {
  describe(`Executions on ${backend}`, () => {
    let harness: ExecutionsHarness;
    let executions: Executions;

    beforeEach(async () => {
      harness = await open();
      executions = harness.executions;
    });

    it('T48 starts an execution once, whoever asks again', async () => {
      expect(await executions.start(MACHINE, 'a', '{}')).toEqual({ kind: 'started' });
      expect(['started', 'exists']).toContain((await executions.start(MACHINE, 'a', '{}')).kind);
      expect(await executions.start(MACHINE, 'a', '{"other":1}')).toEqual({ kind: 'exists' });
      expect(await executions.describe(MACHINE, 'a')).toEqual({ kind: 'running', startedAt: expect.any(Number) });
    });

    it('keeps a name taken once its execution is over', async () => {
      await executions.start(MACHINE, 'a', '{}');
      harness.end('a', { status: 'SUCCEEDED', output: '1' });
      expect(await executions.start(MACHINE, 'a', '{}')).toEqual({ kind: 'exists' });
      expect(await executions.describe(MACHINE, 'a')).toMatchObject({ kind: 'ended', output: '1' });
    });

    it('keeps state machines apart', async () => {
      await executions.start(MACHINE, 'a', '{}');
      expect(await executions.describe(OTHER, 'a')).toEqual({ kind: 'missing' });
      expect(await executions.start(OTHER, 'a', '{"other":1}')).toEqual({ kind: 'started' });
    });

    it('tells how an execution ended, and when', async () => {
      const output = JSON.stringify({ odd: ODD_TEXTS });
      const ends = [
        { status: 'SUCCEEDED', output },
        { status: 'FAILED', error: { name: 'BadInput', message: ODD_TEXTS.join('\n') } },
        { status: 'TIMED_OUT' },
        { status: 'ABORTED' },
      ] as const;
      for (const end of ends) {
        await executions.start(MACHINE, end.status, '{}');
        harness.end(end.status, end);
        const times = { startedAt: CREATED, endedAt: CREATED + 1_000 };
        expect(await executions.describe(MACHINE, end.status)).toEqual({ kind: 'ended', ...end, ...times });
      }
    });

    it('knows nothing of what was never started', async () => {
      expect(await executions.describe(MACHINE, 'never')).toEqual({ kind: 'missing' });
      expect(await executions.stop(MACHINE, 'never', 'why')).toBe('missing');
    });

    it('lists what runs of a state machine, with the time of its start', async () => {
      expect(await executions.listRunning(MACHINE)).toEqual({ kind: 'listed', startedAt: new Map() });
      for (const name of ['a', 'b', 'c', 'd']) await executions.start(MACHINE, name, '{}');
      await executions.start(OTHER, 'e', '{}');
      harness.end('b', { status: 'SUCCEEDED', output: '1' });
      await executions.stop(MACHINE, 'c', 'why');
      const startedAt = new Map([
        ['a', CREATED],
        ['d', CREATED],
      ]);
      expect(await executions.listRunning(MACHINE)).toEqual({ kind: 'listed', startedAt });
    });

    it('lists a thousand a page, and no more pages than are asked for', async () => {
      const names = Array.from({ length: 2_500 }, (_, place) => `n${place}`);
      for (const name of names) await executions.start(MACHINE, name, '{}');
      for (const [pages, count] of [
        [undefined, 1_000],
        [2, 2_000],
        [3, 2_500],
        [9, 2_500],
      ] as const) {
        const listed = await executions.listRunning(MACHINE, pages);
        expect(listed.kind === 'listed' && listed.startedAt.size).toBe(count);
      }
    });

    it('T48 stops a running execution, and leaves one that is over as it is', async () => {
      await executions.start(MACHINE, 'a', '{}');
      expect(await executions.stop(MACHINE, 'a', 'why')).toBe('accepted');
      expect(await executions.describe(MACHINE, 'a')).toMatchObject({ kind: 'ended', status: 'ABORTED' });
      await executions.start(MACHINE, 'b', '{}');
      harness.end('b', { status: 'SUCCEEDED', output: '1' });
      expect(await executions.stop(MACHINE, 'b', 'why')).toBe('accepted');
      expect(await executions.describe(MACHINE, 'b')).toMatchObject({ kind: 'ended', status: 'SUCCEEDED' });
    });
  });
}
