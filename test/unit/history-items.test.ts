/** When the decisions of a run go to its history: an item costs a write, and in the run they cost nothing while it is small. */
import { describe, expect, it } from 'vitest';
import { createMemoryRunStore } from '#adapters/memory/memory-run-store.ts';
import type { Decision, RunRecord } from '#domain/run.ts';
import type { StepResult } from '#domain/step.ts';
import { commit } from '#scheduler/commit.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { CREATED, sampleRun } from '../contract/sample-run.ts';

/** Commits one more decision on a run that holds these; gives what it then holds, and what is in the history. */
async function held(decisions: readonly Decision[], more: Partial<RunRecord> = {}) {
  const runs = createMemoryRunStore();
  const before = sampleRun({ rev: 400, decisions, ...more });
  await runs.createRun(before);
  const run: RunRecord = { ...before, rev: 401, decisions: [...decisions, decision(401, 'S')] };
  const result = { run, lists: new Map(), values: new Map() } as unknown as StepResult;
  const next = await commit({ runs } as unknown as PassDeps, before, result);
  return { held: next?.decisions.length, history: await runs.listHistory(before, before.createdAt) };
}

function decision(rev: number, to: Decision['to'], more: Partial<Decision> = {}): Decision {
  return { at: CREATED + rev * 1_000, rev, to, nodes: [rev], attempt: 1, ...more };
}

/** So many, as a chain makes them: a node ends, the next one runs. */
function inAChain(count: number): Decision[] {
  return Array.from({ length: count }, (_, at) => decision(1 + (at >> 1), at % 2 === 0 ? 'S' : 'r'));
}

/** Text that does not deflate. */
function noise(length: number, seed: number): string {
  return Array.from({ length }, (_, at) => ((seed * 7_919 + at * 104_729) % 1_679_616).toString(36)).join('');
}

describe('the decisions of a run', () => {
  it('stay in it as long as it takes one write unit', async () => {
    const { held: left, history } = await held(inAChain(60));
    expect(left).toBe(61);
    expect(history).toEqual([]);
  });

  it('go to the history once it would take another, all but the newest', async () => {
    const long = inAChain(20).map((each, at) => ({ ...each, error: { name: 'E', message: noise(20, at) } }));
    const { held: left, history } = await held(long);
    expect(left).toBe(1);
    expect(history).toEqual(long);
  });

  it('stay in a run that is large without them, until they are worth an item', async () => {
    const { held: left } = await held(inAChain(10), { error: { name: 'E', message: noise(600, 1) } });
    expect(left).toBe(11);
  });

  it('go to the history where there are many, however short they are', async () => {
    const { held: left, history } = await held(inAChain(150));
    expect(left).toBe(1);
    expect(history).toHaveLength(150);
  });
});
