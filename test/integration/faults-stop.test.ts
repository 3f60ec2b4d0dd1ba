import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Host } from '#local/host.ts';
import { collect } from './fault-audit.ts';
import { drawFrom, playRound } from './fault-campaigns.ts';
import type { FaultClient } from './fault-client.ts';
import { chain, diamond, failing, fan, mixed } from './fault-pipelines.ts';
import { judgeStopped } from './fault-stops.ts';
import { begin, makeFolder, openFaultHost } from './fault-trial.ts';

let place: Awaited<ReturnType<typeof makeFolder>>;
let host: Host;
let client: FaultClient;

beforeAll(async () => {
  place = await makeFolder();
  const options = { dataDir: place.dataDir, tickSeconds: 1 };
  ({ host, client } = await openFaultHost(options, [chain(1), fan(6), failing()]));
});
afterAll(async () => {
  await host.close();
  await place.remove();
});

describe('a stop', () => {
  it('ends the run ABORTED and its executions with it, and nothing starts any more', async () => {
    const trial = await begin(client, fan(6), place.folder, 30_000);
    await client.until(trial.id, ({ counts }) => counts['RUNNING'] === 1, 30_000);
    expect(await judgeStopped(client, trial, 30_000)).toEqual([]);
    const { run, nodes, executions } = await collect(client, trial.id);
    expect(run.state).toBe('ABORTED');
    expect(new Set(nodes.map(({ state }) => state))).toEqual(new Set(['ABORTED']));
    expect(executions.map(({ status }) => status)).toEqual(['ABORTED']);
    expect(await client.stopRun(trial.id)).toMatchObject({ outcome: 'ALREADY_FINISHED' });
  });

  it('of a run with a node that was bad before ends it FAILED', async () => {
    const trial = await begin(client, failing(), place.folder, 300);
    await client.until(trial.id, ({ counts }) => counts['FAILED'] === 1, 30_000);
    const outcome = await judgeStopped(client, trial, 30_000);
    expect(outcome).toEqual([]);
    expect(await client.run(trial.id)).toMatchObject({ state: 'FAILED' });
  });

  it('in the last moment of a run is either accepted, and holds, or is told that the run was over', async () => {
    const outcomes = await Promise.all([1, 2, 3, 4, 5].map((seed) => stopAtTheLastMoment(seed, 20)));
    expect(outcomes.flatMap(({ faults }) => faults)).toEqual([]);
    const states = outcomes.flatMap(({ states: ended }) => ended);
    expect(states).toHaveLength(100);
    expect(new Set(states)).toEqual(new Set(['ABORTED', 'SUCCEEDED']));
  });
});

/** Runs of one node, stopped ever nearer to their end: later after a stop that was accepted, earlier after one that was not. */
async function stopAtTheLastMoment(seed: number, times: number) {
  const draw = drawFrom(seed);
  const faults: string[] = [];
  const states: string[] = [];
  let waitMs = 60;
  for (let time = 0; time < times; time++) {
    const trial = await begin(client, chain(1), place.folder, 20);
    await sleep(Math.max(0, waitMs + draw(10) - 5));
    faults.push(...(await judgeStopped(client, trial, 30_000)));
    const { state } = await client.run(trial.id);
    states.push(state);
    waitMs = Math.max(5, waitMs * (state === 'ABORTED' ? 1.15 : 0.87));
  }
  return { faults, states };
}

describe('stops at random moments', () => {
  const kills = 'kill=scheduler:0.3,kill=api:0.2';
  const stops = { seed: 5, scenarios: [diamond(), fan(4), mixed()], tickSeconds: 2, nodeMs: 300, stopWithinMs: 1500 };
  it.each([
    { trouble: 'repeated events', round: { chaos: 'repeat-events=1' } },
    { trouble: 'dropped events', round: { chaos: 'drop-events=1', tickSeconds: 1 } },
    { trouble: 'functions that die', round: { chaos: kills } },
    { trouble: 'a host and functions that die', round: { chaos: kills, hostKills: 1 } },
  ])('hold under $trouble', async ({ round }) => {
    const { faults } = await playRound({ ...stops, ...round });
    expect(faults).toEqual([]);
  });
});
