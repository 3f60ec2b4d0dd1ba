/** A run that somebody looks at live, played by the real pass in a simulated world that dies at every await in turn. */
import { describe, expect, it } from 'vitest';
import { createInlineEvaluator } from '#adapters/jsonata/evaluate-template.ts';
import { runPass } from '#scheduler/pass.ts';
import type { OperationFault } from '#testing/faults.ts';
import type { UserAct } from './users.ts';
import { type Faults, type Scenario, World } from './world.ts';

interface Told {
  readonly sinceRev: number;
  readonly rev: number;
  readonly state: string;
  readonly nodes?: readonly { readonly id: string; readonly state: string }[];
}

function watches(...times: readonly number[]): UserAct[] {
  return times.map((atMs) => ({
    kind: 'ask',
    atMs,
    ask: async (deps, run) => (await runPass(deps, run, { isWatched: true })).kind !== 'busy',
  }));
}

function scenario(users: readonly UserAct[][], nodeMs = 20_000): Scenario {
  const params = { function: 'f', payload: {} };
  const ids = ['a', 'b', 'c'];
  return {
    name: 'watch',
    definition: {
      name: 'watch',
      nodes: ids.map((id, at) => ({ id, dependsOn: ids.slice(Math.max(0, at - 1), at), params })),
    },
    evaluator: createInlineEvaluator(),
    users,
    script: () => ({ durationMs: nodeMs, end: { status: 'SUCCEEDED', output: '1' } }),
  };
}

async function play(made: Scenario, faults: Faults = {}) {
  const world = new World(made, faults);
  await world.play(200);
  const run = world.runs.latest(world.run?.id ?? '');
  const told = world.trace.events.flatMap(({ detailType, detail }) =>
    detailType === 'RunChanged' ? [detail as unknown as Told] : [],
  );
  return { world, run, told };
}

const namesOf = (told: readonly Told[]) =>
  told.flatMap(({ nodes = [] }) => nodes.map(({ id, state }) => `${id} ${state}`));

describe('a run that is watched', () => {
  it('tells of its nodes from then on, and of every revision', async () => {
    const { run, told } = await play(scenario([watches(25_000)]));
    expect(run.state).toBe('SUCCEEDED');
    expect(namesOf(told)).toEqual(expect.arrayContaining(['b SUCCEEDED', 'c RUNNING', 'c SUCCEEDED']));
    expect(told.every(({ sinceRev }, at) => sinceRev <= (told[at - 1]?.rev ?? 0) + 1)).toBe(true);
    expect(told.at(-1)).toMatchObject({ rev: run.rev, state: 'SUCCEEDED' });
  });

  it('costs nothing where nobody watches: the same commits, and no node told of', async () => {
    const { told, run } = await play(scenario([]));
    expect(namesOf(told)).toEqual([]);
    expect(told.map(({ state }) => state)).toEqual(['RUNNING', 'SUCCEEDED']);
    expect(run.watchedUntil).toBeUndefined();
  });

  it('is watched for ten minutes, and longer where that is renewed', async () => {
    const long = 400_000;
    const once = await play(scenario([watches(25_000)], long));
    expect(namesOf(once.told)).toContain('a SUCCEEDED');
    expect(namesOf(once.told)).not.toContain('b SUCCEEDED');
    expect(once.run.watchedUntil).toBeUndefined();
    const renewed = await play(scenario([watches(25_000, 30_000, 400_000, 800_000, 1_190_000)], long));
    expect(namesOf(renewed.told)).toEqual(expect.arrayContaining(['b SUCCEEDED', 'c SUCCEEDED']));
    // A renewal before half of the time is over is no commit.
    const seldom = await play(scenario([watches(25_000, 400_000, 800_000, 1_190_000)], long));
    expect(renewed.run.rev).toBe(seldom.run.rev);
  });

  it('may be over, or not yet begun', async () => {
    const late = await play(scenario([watches(90_000)]));
    expect([late.run.state, late.run.watchedUntil, namesOf(late.told)]).toEqual(['SUCCEEDED', undefined, []]);
    const early = await play(scenario([watches(0)]));
    expect(namesOf(early.told)).toEqual(expect.arrayContaining(['a SUCCEEDED', 'b RUNNING', 'c SUCCEEDED']));
  });

  it('ends as ever, and every revision is told, whatever dies at whatever await', { timeout: 240_000 }, async () => {
    const make = () => scenario([watches(25_000)]);
    const { world } = await play(make());
    expect(world.trace.operations.length).toBeGreaterThan(20);
    for (let at = 0; at < world.trace.operations.length + 3; at++) {
      for (const when of ['before', 'after'] as const) {
        const all: OperationFault[] = [
          { kind: 'kill', when },
          { kind: 'freeze', when, forMs: 200_000 },
          { kind: 'fail', when },
        ];
        for (const fault of all) {
          const { run, told } = await play(make(), { at: new Map([[at, fault]]) });
          expect(run.nodes, `${fault.kind} ${when} ${at}`).toBe('SSS');
          expect(Math.max(...told.map(({ rev }) => rev))).toBe(run.rev);
        }
      }
    }
  });
});
