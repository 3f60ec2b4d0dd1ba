import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { playRound } from './fault-campaigns.ts';
import { chain, diamond, failing, mixed } from './fault-pipelines.ts';
import { judge, makeFolder, openFaultHost } from './fault-trial.ts';

const TICK_SECONDS = 1;

describe('--chaos drop-events=1', () => {
  it('leaves it to the tick alone to bring every run to its end, a hop taking one or two ticks', async () => {
    const scenarios = [chain(3), diamond(), mixed(), failing()];
    const chaos = 'drop-events=1';
    const { faults, hops, remarks } = await playRound({ seed: 1, chaos, tickSeconds: TICK_SECONDS, scenarios });
    expect(faults).toEqual([]);
    expect(remarks[0]).toMatch(/"dropped":[1-9]/);
    // A machine that is busy with other tests makes every step slower, so two more ticks are allowed for.
    expect(hops[Math.floor(hops.length / 2)]).toBeLessThan(4000 * TICK_SECONDS);
  });
});

describe('--chaos repeat-events=1', () => {
  it('changes nothing: one execution an attempt, whatever comes how often', async () => {
    const { faults, remarks } = await playRound({ seed: 1, chaos: 'repeat-events=1' });
    expect(faults).toEqual([]);
    expect(remarks[0]).toMatch(/"repeated":[1-9]/);
  });
});

describe('requests of other systems', () => {
  it('start one run each and stop it, however often they come and the intake dies', async () => {
    const { folder, dataDir, remove } = await makeFolder();
    const chaos = 'repeat-events=1,kill=intake:0.5';
    const scenario = diamond();
    const { host, client } = await openFaultHost({ dataDir, chaos, seed: 1, tickSeconds: 2 }, [scenario, chain(2)]);
    const log = join(folder, 'traces', 'requested');
    for (let request = 0; request < 4; request++) {
      await client.publish('RunRequested', { pipeline: 'diamond', input: { ms: 20, log } });
    }
    await client.publish('RunRequested', { pipeline: 'chain-2', input: { ms: 60_000, log }, idempotencyKey: 'long' });
    await vi.waitFor(async () => expect(await client.runIds()).toHaveLength(5), { timeout: 60_000, interval: 200 });
    const long = await client.startRun('chain-2', { ms: 60_000, log }, 'long');
    await client.publish('StopRequested', { runId: long });
    expect((await client.ended(long, 60_000)).state).toBe('ABORTED');
    const others = (await client.runIds()).filter((id) => id !== long);
    expect(others).toHaveLength(4);
    for (const id of others) expect((await judge(client, { id, scenario, log }, 60_000)).faults).toEqual([]);
    await host.close();
    await remove();
  });
});
