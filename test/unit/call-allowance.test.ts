import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CallAllowance, createCallAllowance } from '#adapters/aws/call-allowance.ts';
import { callRatesOf } from '#adapters/aws/service-quotas.ts';
import { readPage, tableRows } from './docs-pages.ts';

const RATE = { burst: 8, perSecond: 2 };
const RATES = {
  StartExecution: RATE,
  DescribeExecution: RATE,
  StopExecution: RATE,
  ListExecutions: { burst: 4, perSecond: 1 },
};

let allowance: CallAllowance;

beforeEach(() => {
  vi.useFakeTimers();
  allowance = createCallAllowance(RATES);
});

afterEach(() => {
  vi.useRealTimers();
});

/** How many calls are let through at once. */
async function taken(call: keyof typeof RATES, urgency: 'prompt' | 'sweep' = 'prompt'): Promise<number> {
  for (let count = 0; ; count++) if (!(await allowance.take(call, urgency))) return count;
}

describe('the allowance of an instance', () => {
  it('lets a burst through, and then what flows in', async () => {
    expect(await taken('DescribeExecution')).toBe(8);
    vi.advanceTimersByTime(1_500);
    expect(await taken('DescribeExecution')).toBe(3);
    vi.advanceTimersByTime(3_600_000);
    expect(await taken('DescribeExecution')).toBe(8);
  });

  it('counts each call for itself', async () => {
    expect(await taken('DescribeExecution')).toBe(8);
    expect(await taken('StartExecution')).toBe(8);
    expect(await taken('ListExecutions')).toBe(4);
  });

  it('keeps a part for those that others wait for', async () => {
    expect(await taken('DescribeExecution', 'sweep')).toBe(6);
    expect(await taken('DescribeExecution')).toBe(2);
  });

  it('lets a call wait for its turn, as long as it says and no longer', async () => {
    await taken('DescribeExecution');
    const waiting = [1, 2, 3, 4].map(() => allowance.take('DescribeExecution', 'prompt', 1_000));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await Promise.all(waiting)).toEqual([true, true, false, false]);
  });

  it('has nothing left once AWS throttles, and asks half as often until it has been quiet for a minute', async () => {
    for (let call = 0; call < 5; call++) allowance.throttled('DescribeExecution');
    expect(await taken('DescribeExecution')).toBe(0);
    vi.advanceTimersByTime(4_000);
    expect(await taken('DescribeExecution')).toBe(4);
    vi.advanceTimersByTime(60_000);
    expect(await taken('DescribeExecution')).toBe(8);
    vi.advanceTimersByTime(1_000);
    expect(await taken('DescribeExecution')).toBe(2);
  });

  it('never asks less than an eighth as often, however long AWS throttles', async () => {
    for (let second = 0; second < 30; second++) {
      allowance.throttled('StartExecution');
      vi.advanceTimersByTime(1_000);
    }
    allowance.throttled('StartExecution');
    vi.advanceTimersByTime(8_000);
    expect(await taken('StartExecution')).toBe(2);
  });
});

describe('the shares of our functions', () => {
  // https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
  it.each([
    ['eu-central-1', { DescribeExecution: [250, 10], ListExecutions: [100, 2], StartExecution: [800, 150] }],
    ['us-east-1', { DescribeExecution: [300, 15], ListExecutions: [200, 5], StartExecution: [1_300, 300] }],
    ['', { DescribeExecution: [250, 10], ListExecutions: [100, 2], StartExecution: [800, 150] }],
  ] as const)('leave the account of %j a quarter of its looks and lists', (region, quotas) => {
    const [api, intake, scheduler] = (['api', 'intake', 'scheduler'] as const).map((one) => callRatesOf(one, region));
    for (const call of ['DescribeExecution', 'ListExecutions'] as const) {
      const all = [api, api, intake, intake, scheduler, scheduler, scheduler, scheduler, scheduler];
      const perSecond = all.reduce((sum, rates) => sum + (rates?.[call].perSecond ?? 0), 0);
      expect(perSecond).toBeLessThanOrEqual(0.7501 * quotas[call][1]);
      expect(scheduler?.[call].burst).toBeLessThanOrEqual(quotas[call][0] / 2);
    }
    expect(scheduler?.StartExecution).toEqual({
      burst: quotas.StartExecution[0] / 2,
      perSecond: quotas.StartExecution[1] / 2,
    });
  });

  it('are those that the page of limits tells', () => {
    const rates = new Map(Object.entries(callRatesOf('scheduler', 'eu-central-1')));
    const told = tableRows(readPage('docs/reference/limits.md'), 'Calls of Step Functions').map((row) => [
      row.get('call'),
      row.get('eu-central-1, for example'),
    ]);
    expect(told).toEqual([...rates].map(([call, rate]) => [call, `${rate.burst}, ${rate.perSecond} a second`]));
  });
});
