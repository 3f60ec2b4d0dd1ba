import { describe, expect, it } from 'vitest';
import { isRetried, retryDelayMs, toRetryPolicy } from '#domain/retry.ts';

describe('retryDelayMs', () => {
  it('C32 grows to its cap and stays there, however large the power gets', () => {
    const policy = toRetryPolicy({ maxAttempts: 1101, intervalSeconds: 300, backoffRate: 2, maxDelaySeconds: 3600 });
    const seconds = (attempt: number) => retryDelayMs(policy, attempt, 0) / 1000;
    expect([1, 2, 3, 4, 5].map(seconds)).toEqual([300, 600, 1200, 2400, 3600]);
    expect([14, 36, 1007, 1100].map(seconds)).toEqual([3600, 3600, 3600, 3600]);
  });

  it('C32 without a cap never waits longer than a day', () => {
    const policy = toRetryPolicy({ maxAttempts: 5000, intervalSeconds: 300 });
    expect(retryDelayMs(policy, 1007, 0)).toBe(24 * 3600 * 1000);
  });

  it('draws full jitter between nothing and the whole wait', () => {
    const policy = toRetryPolicy({ maxAttempts: 3, intervalSeconds: 10, jitter: 'full' });
    expect([0, 0.5, 1].map((draw) => retryDelayMs(policy, 1, draw))).toEqual([0, 5000, 10_000]);
  });

  it('waits nothing with a rate of 1 and an interval of 0', () => {
    expect(retryDelayMs(toRetryPolicy({ intervalSeconds: 0, backoffRate: 1 }), 5, 0)).toBe(0);
  });
});

describe('isRetried', () => {
  it('has one attempt without a policy', () => {
    expect(isRetried(toRetryPolicy(undefined), 1, 'Any')).toBe(false);
  });

  it('counts the first attempt', () => {
    const policy = toRetryPolicy({ maxAttempts: 3 });
    expect([1, 2, 3].map((attempt) => isRetried(policy, attempt, 'Any'))).toEqual([true, true, false]);
  });

  it('matches names as ASL does, and `notOn` wins', () => {
    const named = toRetryPolicy({ maxAttempts: 2, on: ['States.TaskFailed'], notOn: ['BadInput'] });
    expect(['Any', 'BadInput', 'States.Timeout'].map((name) => isRetried(named, 1, name))).toEqual([
      true,
      false,
      false,
    ]);
    expect(isRetried(toRetryPolicy({ maxAttempts: 2, on: ['States.Timeout'] }), 1, 'States.Timeout')).toBe(true);
  });
});
