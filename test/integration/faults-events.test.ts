import { describe, expect, it } from 'vitest';
import { playRound } from './fault-campaigns.ts';
import { chain, diamond, failing, mixed } from './fault-pipelines.ts';

const TICK_SECONDS = 1;

describe('--chaos drop-events=1', () => {
  it('leaves it to the tick alone to bring every run to its end, a hop taking one or two ticks', async () => {
    const scenarios = [chain(4), diamond(), mixed(), failing()];
    const chaos = 'drop-events=1';
    const { faults, hops, remarks } = await playRound({ seed: 1, chaos, tickSeconds: TICK_SECONDS, scenarios });
    expect(faults).toEqual([]);
    expect(remarks[0]).toMatch(/"dropped":[1-9]/);
    // A machine that is busy with other tests makes every step slower, so a third tick is allowed for.
    expect(hops[Math.floor(hops.length / 2)]).toBeLessThan(3000 * TICK_SECONDS);
  });
});

describe('--chaos repeat-events=1', () => {
  it('changes nothing: one execution an attempt, whatever comes how often', async () => {
    const { faults, remarks } = await playRound({ seed: 1, chaos: 'repeat-events=1' });
    expect(faults).toEqual([]);
    expect(remarks[0]).toMatch(/"repeated":[1-9]/);
  });
});
