import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { shareLists } from '#adapters/aws/shared-lists.ts';
import { createMemoryExecutions } from '#adapters/memory/memory-executions.ts';
import type { Executions, RunningListed } from '#ports/index.ts';

const asked: string[] = [];
let answer: RunningListed;
let executions: Executions;

beforeEach(() => {
  vi.useFakeTimers();
  asked.length = 0;
  answer = { kind: 'listed', startedAt: new Map([['a', 1]]) };
  executions = shareLists({
    ...createMemoryExecutions({ now: () => 0 }),
    listRunning: async (machine, pages) => {
      asked.push(`${machine} ${pages}`);
      return answer;
    },
  });
});

afterEach(() => {
  vi.useRealTimers();
});

it('asks once for passes that ask at about the same time', async () => {
  const all = await Promise.all([1, 2, 3].map(() => executions.listRunning('one')));
  expect(all).toEqual([answer, answer, answer]);
  vi.advanceTimersByTime(999);
  await executions.listRunning('one');
  expect(asked).toEqual(['one 1']);
  vi.advanceTimersByTime(1);
  await executions.listRunning('one');
  expect(asked).toEqual(['one 1', 'one 1']);
});

it('asks for each state machine, and where more pages are wanted', async () => {
  await executions.listRunning('one', 2);
  await executions.listRunning('one', 1);
  await executions.listRunning('one', 3);
  await executions.listRunning('two', 1);
  expect(asked).toEqual(['one 2', 'one 3', 'two 1']);
});

it('asks again where it got no answer', async () => {
  answer = { kind: 'unanswered', message: 'Rate exceeded' };
  await Promise.all([executions.listRunning('one'), executions.listRunning('one')]);
  await executions.listRunning('one');
  expect(asked).toEqual(['one 1', 'one 1']);
});
