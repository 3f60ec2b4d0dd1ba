import { describe, expect, test } from 'vitest';
import { type CountedCall, callRatesOf } from '#adapters/aws/service-quotas.ts';
import type { PipelineDefinition } from '#domain/definition.ts';
import { teamPipelines } from '../../bench/day-pipelines.ts';
import { Timeline } from '../../bench/day-timeline.ts';
import { LARGE_REGION, OTHER_REGION } from '../../bench/quota-account.ts';
import { type Load, playLoad } from '../../bench/quota-load.ts';

const wide: PipelineDefinition = {
  name: 'wide',
  nodes: Array.from({ length: 40 }, (_, at) => ({ id: `n${at}`, params: { function: 'work', payload: {} } })),
};
const load: Load = {
  quotas: { calls: {}, lambdas: Number.POSITIVE_INFINITY },
  definition: wide,
  nodeMs: () => 1_000,
  nodesPerSecond: 40,
  seconds: 3,
  lookEveryMs: 1_000,
};

describe('a load on an account', () => {
  test('without quotas nothing waits', async () => {
    const { waits, runs, reasons } = await playLoad(load);
    expect(runs).toBe(3);
    expect(waits).toMatchObject({ start: 0, lambda: 0 });
    expect(reasons.get('Throttled')).toBeUndefined();
  });

  test('C92 starts beyond the quota wait with reason Throttled, cost no look, and all succeed', async () => {
    const StartExecution = { burst: 10, perSecond: 5 };
    const { waits, reasons, world } = await playLoad({
      ...load,
      quotas: { ...load.quotas, calls: { StartExecution } },
    });
    expect(reasons.get('Throttled')).toBeGreaterThan(100);
    expect(waits.start).toBeGreaterThan(10);
    expect(world.started).toBe(120);
    expect(world.account.tallies.get('StartExecution')?.throttled).toBeGreaterThan(0);
    expect(world.account.tallies.get('DescribeExecution')?.made ?? 0).toBeLessThan(10);
  });

  test('functions beyond the concurrency of Lambda wait, the scheduler goes on, and all succeed', async () => {
    const { waits, world } = await playLoad({ ...load, quotas: { calls: {}, lambdas: 10 } });
    expect(waits.lambda).toBeGreaterThan(1);
    expect(world.account.mostRunning).toBe(10);
    expect(world.account.running).toBe(0);
  });

  test('the same load comes to the same', async () => {
    const once = await playLoad({ ...load, quotas: { calls: {}, lambdas: 10 } });
    const again = await playLoad({ ...load, quotas: { calls: {}, lambdas: 10 } });
    expect(again.waits).toEqual(once.waits);
  });
});

test.each([
  ['us-east-1', LARGE_REGION],
  ['eu-central-1', OTHER_REGION],
] as const)('the quotas of %s are those that the shares of the functions are parts of', (region, quotas) => {
  for (const [call, { perSecond }] of Object.entries(quotas)) {
    const share = callRatesOf('scheduler', region)[call as CountedCall].perSecond / perSecond;
    expect(share).toBeCloseTo(call === 'StartExecution' ? 1 / 2 : 1 / 10, 6);
  }
});

test('a timeline keeps the order of times, and of what happens at the same one', async () => {
  const timeline = new Timeline();
  const happened: string[] = [];
  for (const [at, what] of [
    [3, 'c'],
    [1, 'a'],
    [3, 'd'],
    [2, 'b'],
  ] as const) {
    timeline.put(at, () => {
      happened.push(what);
    });
  }
  while (timeline.nextAt < Number.POSITIVE_INFINITY) await timeline.take()();
  expect(happened).toEqual(['a', 'b', 'c', 'd']);
});

test('the pipelines of a team have 10 to 200 nodes, and three of five start at a full hour', () => {
  const pipelines = teamPipelines(1_000, 7);
  expect(pipelines).toEqual(teamPipelines(1_000, 7));
  const sizes = pipelines.map(({ nodes }) => nodes.length);
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(10);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(200);
  const full = pipelines.filter(({ schedule }) => schedule?.[0]?.cron?.startsWith('0 '));
  expect(full.length).toBeGreaterThan(550);
  expect(full.length).toBeLessThan(650);
});
