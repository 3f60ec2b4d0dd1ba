import { describe, expect, it } from 'vitest';
import { playRound } from './fault-campaigns.ts';
import { fan } from './fault-pipelines.ts';

describe('a Step Functions that throttles every other start', () => {
  it('C92 delays the work, and fails none of it: one execution an attempt, and no attempt but the first', async () => {
    const chaos = 'throttle=StartExecution:0.5,throttle=DescribeExecution:0.3,throttle=ListExecutions:0.5';
    const { faults, remarks } = await playRound({ seed: 1, chaos, tickSeconds: 1, scenarios: [fan(30)] });
    expect(faults).toEqual([]);
    expect(remarks[0]).toMatch(/"StartExecution":[1-9]/);
  });
});
