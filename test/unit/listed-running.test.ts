import { describe, expect, it } from 'vitest';
import { createMemoryExecutions } from '#adapters/memory/memory-executions.ts';
import { compilePipeline } from '#domain/graph.ts';
import type { Flight } from '#domain/run.ts';
import type { Executions } from '#ports/index.ts';
import { type DueLook, isListable, LOOKS_WORTH_A_LIST, listRunning } from '#scheduler/listed-running.ts';

const NOW = Date.UTC(2026, 10, 30, 12);
const MACHINE = 'arn:aws:states:eu-central-1:111122223333:stateMachine:one';

const pipeline = compilePipeline({ name: 'p', nodes: [{ id: 'a', timeoutSeconds: 600, params: {} }] }, 'revision');

function flight(more: Partial<Flight> = {}): Flight {
  return {
    node: 0,
    attempt: 1,
    phase: 'running',
    startedAt: NOW,
    since: NOW,
    pollAt: NOW + 60_000,
    polls: 0,
    machine: 0,
    confirmed: true,
    ...more,
  };
}

function looks(count: number, stateMachineArn = MACHINE): DueLook[] {
  return Array.from({ length: count }, (_, place) => ({ flight: flight(), stateMachineArn, name: `n${place}` }));
}

/** Step Functions in which everything runs, and the lists that were asked of it. */
async function running(count: number, machines = [MACHINE]) {
  const executions = createMemoryExecutions({ now: () => NOW });
  for (const machine of machines) {
    for (let place = 0; place < count; place++) await executions.start(machine, `n${place}`, '{}');
  }
  const asked: [string, number | undefined][] = [];
  const watched: Executions = {
    ...executions,
    listRunning: (machine, pages) => {
      asked.push([machine, pages]);
      return executions.listRunning(machine, pages);
    },
  };
  return { executions: watched, asked };
}

describe('looks by a list', () => {
  it('are made from ten looks at one state machine on, by no more pages than they spare', async () => {
    const few = await running(9);
    expect((await listRunning(few.executions, looks(9))).size).toBe(0);
    expect(few.asked).toEqual([]);
    for (const [count, pages] of [
      [LOOKS_WORTH_A_LIST, 1],
      [25, 2],
      [500, 5],
    ] as const) {
      const many = await running(count);
      expect((await listRunning(many.executions, looks(count))).size).toBe(count);
      expect(many.asked).toEqual([[MACHINE, pages]]);
    }
  });

  it('count each state machine for itself', async () => {
    const other = `${MACHINE}-other`;
    const { executions, asked } = await running(20, [MACHINE, other]);
    const due = [...looks(10), ...looks(9, other)];
    const seen = await listRunning(executions, due);
    expect(asked).toEqual([[MACHINE, 1]]);
    expect(seen).toEqual(new Map(due.slice(0, 10).map((look) => [look.flight, NOW])));
  });

  it('say nothing of what the list does not name, nor where there is none', async () => {
    const { executions } = await running(12);
    const due = looks(14);
    const seen = await listRunning(executions, due);
    expect(due.filter((look) => !seen.has(look.flight)).map(({ name }) => name)).toEqual(['n12', 'n13']);
    const silent: Executions = { ...executions, listRunning: async () => ({ kind: 'unanswered', message: 'no' }) };
    expect((await listRunning(silent, due)).size).toBe(0);
  });
});

describe('what a list may answer for', () => {
  it.each([
    ['an attempt that runs', {}, NOW + 599_000, true],
    ['one whose start was never confirmed', { phase: 'starting', confirmed: false }, NOW + 9_999_000, true],
    // A list that lags would let an attempt time out that ended in time.
    ['one whose time is over', {}, NOW + 600_000, false],
    ['one that is being ended', { phase: 'stopping', ending: 'Stopped' }, NOW + 1_000, false],
    ['one that could not be found', { missingSince: NOW }, NOW + 1_000, false],
  ] as const)('%s: %#', (_, more, readAt, isOne) => {
    expect(isListable(pipeline, flight(more), readAt)).toBe(isOne);
  });
});
