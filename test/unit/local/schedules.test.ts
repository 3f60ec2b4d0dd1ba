import { describe, expect, it } from 'vitest';
import type { LambdaFunctions } from '#local/lambda-functions.ts';
import { startSchedule } from '#local/schedules.ts';
import { ManualClock } from './manual-clock.ts';

function start(properties: Record<string, unknown>, options: { tickSeconds?: number; isOurs?: boolean } = {}) {
  const clock = new ManualClock();
  const invoked: [string, string][] = [];
  const functions = {
    find: (arn: string) => (arn === 'arn:known' ? 'scheduler' : undefined),
    isOurs: () => options.isOurs ?? true,
    invoke: async (name: string, { event }: { event: string }) => {
      invoked.push([name, event]);
    },
  } as unknown as LambdaFunctions;
  const resource = {
    logicalId: 'Tick',
    type: 'AWS::Scheduler::Schedule',
    name: 'tick',
    ref: 'tick',
    arn: 'arn',
    properties: {
      ScheduleExpression: 'rate(1 minute)',
      Target: { Arn: 'arn:known', Input: '{"kind":"tick"}' },
      ...properties,
    },
  };
  const { tickSeconds } = options;
  const schedule = startSchedule(resource, { clock, functions, ...(tickSeconds === undefined ? {} : { tickSeconds }) });
  return { clock, invoked, schedule };
}

describe('startSchedule', () => {
  it('invokes its function at once, and then at its rate', () => {
    const { clock, invoked, schedule } = start({});
    clock.advance(0);
    expect(invoked).toEqual([['scheduler', '{"kind":"tick"}']]);
    clock.advance(59_999);
    expect(invoked).toHaveLength(1);
    clock.advance(1);
    clock.advance(180_000);
    expect(invoked).toHaveLength(5);
    schedule.stop();
    clock.advance(600_000);
    expect(invoked).toHaveLength(5);
  });

  it('lets the tick option override the rate for our own functions only', () => {
    const ours = start({}, { tickSeconds: 2 });
    ours.clock.advance(10_000);
    expect(ours.invoked).toHaveLength(6);
    const others = start({}, { tickSeconds: 2, isOurs: false });
    others.clock.advance(10_000);
    expect(others.invoked).toHaveLength(1);
  });

  it('does nothing while it is disabled', () => {
    const { clock, invoked } = start({ State: 'DISABLED' });
    clock.advance(600_000);
    expect(invoked).toEqual([]);
  });

  it.each([
    [{ ScheduleExpression: 'cron(0 3 * * ? *)' }, 'cron(0 3 * * ? *)'],
    [{ Target: { Arn: 'arn:other' } }, 'arn:other'],
  ])('refuses %j by name', (properties, what) => {
    expect(() => start(properties)).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED_RESOURCE', message: expect.stringContaining(what) }),
    );
  });
});
