import { describe, expect, it } from 'vitest';
import { playRound } from './fault-campaigns.ts';
import { chain, diamond, mixed } from './fault-pipelines.ts';

describe('--chaos kill', () => {
  it.each([1, 2])('of scheduler and api at random moments loses nothing, seed %i', async (seed) => {
    const chaos = 'kill=scheduler:0.3,kill=api:0.2';
    const { faults, remarks } = await playRound({
      seed,
      chaos,
      scenarios: [chain(3), diamond(), mixed()],
      tickSeconds: 2,
    });
    expect(faults).toEqual([]);
    expect(remarks[0]).toMatch(/"millrace-scheduler":[1-9]/);
    expect(remarks[0]).toMatch(/"millrace-api":[1-9]/);
  });
});
