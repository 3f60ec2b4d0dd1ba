import { z } from 'zod';
import type { HostClock } from '#local/host-clock.ts';
import { unsupportedResource } from '#local/host-error.ts';
import type { LambdaFunctions } from '#local/lambda-functions.ts';
import type { HostedResource } from '#local/template.ts';

const schedule = z.object({
  ScheduleExpression: z.string(),
  State: z.enum(['ENABLED', 'DISABLED']).default('ENABLED'),
  Target: z.object({ Arn: z.string(), Input: z.string().default('{}') }),
});

const unitMs: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** What schedules need from the host. */
export type SchedulesSurroundings = {
  readonly clock: HostClock;
  readonly functions: LambdaFunctions;
  /** Overrides the rate of schedules that wake our own functions, in seconds. */
  readonly tickSeconds?: number;
};

/** A running schedule. */
export type RunningSchedule = { stop(): void };

/**
 * Starts an `AWS::Scheduler::Schedule`: it invokes its function at once and then at its rate. Lambda's retries of a failed
 * asynchronous invocation are left out; the next one comes anyway.
 * @throws {HostError} `UNSUPPORTED_RESOURCE` for an expression other than `rate(…)`, or a target that is no function
 */
export function startSchedule(resource: HostedResource, around: SchedulesSurroundings): RunningSchedule {
  const parsed = schedule.safeParse(resource.properties);
  if (!parsed.success) throw unsupportedResource(resource, z.prettifyError(parsed.error));
  const { ScheduleExpression, State, Target } = parsed.data;
  const match = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(ScheduleExpression);
  if (match === null) {
    throw unsupportedResource(resource, `the development host runs rate(…) schedules, not ${ScheduleExpression}`);
  }
  const functionName = around.functions.find(Target.Arn);
  if (functionName === undefined)
    throw unsupportedResource(resource, `its target ${Target.Arn} is no function of the template`);
  const rateMs = Number(match[1]) * (unitMs[match[2] ?? ''] ?? 0);
  const isTick = around.tickSeconds !== undefined && around.functions.isOurs(functionName);
  const periodMs = isTick ? (around.tickSeconds ?? 0) * 1000 : rateMs;
  if (State === 'DISABLED') return { stop() {} };
  return repeat(around.clock, periodMs, () => {
    void around.functions.invoke(functionName, { event: Target.Input });
  });
}

/** Calls at once and then every `periodMs`, counted from the first call, so that lateness does not add up. */
function repeat(clock: HostClock, periodMs: number, run: () => void): RunningSchedule {
  let next = clock.now();
  let cancel = clock.after(0, fire);
  function fire(): void {
    run();
    next = Math.max(next + periodMs, clock.now());
    cancel = clock.after(next - clock.now(), fire);
  }
  return { stop: () => cancel() };
}
