import { describe, expect, test } from 'vitest';
import { createDraws } from '../../bench/latency/draws.ts';
import { changeInputs, DEFAULT_INPUTS } from '../../bench/latency/inputs.ts';
import { pathsOf } from '../../bench/latency/paths.ts';
import { type Simulated, simulate } from '../../bench/latency/simulate.ts';
import { UsageError } from '../../bench/latency/usage-error.ts';

const SAMPLES = 20_000;

function hops(...changes: string[]): { event: Simulated; tick: Simulated } {
  const [event, tick] = pathsOf(changeInputs(DEFAULT_INPUTS, changes)).map((path) => simulate(path, SAMPLES, 1));
  return { event: event as Simulated, tick: tick as Simulated };
}

describe('draws', () => {
  test('a log-normal has the median and the 99th percentile that it was made from', () => {
    const draws = createDraws(3);
    const drawn = Float64Array.from({ length: 100_000 }, () => draws.logNormal([20, 100])).toSorted();
    expect(drawn[50_000]).toBeGreaterThan(19.5);
    expect(drawn[50_000]).toBeLessThan(20.5);
    expect(drawn[99_000]).toBeGreaterThan(95);
    expect(drawn[99_000]).toBeLessThan(105);
  });

  test('the same seed draws the same', () => {
    expect(hops().event).toEqual(hops().event);
  });
});

describe('the event path', () => {
  test('its stages make up the whole', () => {
    const { total, stages } = hops().event;
    expect(stages.reduce((sum, { mean }) => sum + mean, 0)).toBeCloseTo(total.mean, 6);
    expect(stages.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 6);
  });

  test('a slower bus makes a slower hop', () => {
    const slower = hops('eventbridge.p50=395', 'eventbridge.p99=794').event.total.p50;
    expect(slower - hops().event.total.p50).toBeGreaterThan(300);
  });

  test('half the memory computes twice as long, and more than a whole core helps nothing', () => {
    const computes = (memory: number) =>
      hops(`scheduler.memory=${memory}`).event.stages.find(({ name }) => name.includes('computes'))?.p50 as number;
    expect(computes(256)).toBeCloseTo(2 * computes(512), 6);
    expect(computes(3_538)).toBe(computes(1_769));
  });

  test('every invocation cold adds a whole cold start', () => {
    const warm = hops('scheduler.cold=0').event.total.p50;
    expect(hops('scheduler.cold=1').event.total.p50 - warm).toBeGreaterThan(300);
  });
});

describe('the tick path', () => {
  const until = ({ tick }: { tick: Simulated }) => tick.stages[0] as Simulated['stages'][number];

  test('a node of 10 s is looked at 50 to 110 s after its end', () => {
    const wait = until(hops());
    expect(wait.p50).toBeGreaterThan(78_000);
    expect(wait.p50).toBeLessThan(82_000);
    expect(wait.p99).toBeLessThan(110_000);
  });

  test('looks at a long node come to be a quarter of an hour apart', () => {
    const waits = [35_400, 35_700, 36_000, 36_300].map((seconds) => until(hops(`node.seconds=${seconds}`)));
    for (const { p99 } of waits) expect(p99).toBeLessThan(16 * 60_000);
    expect(Math.max(...waits.map(({ p50 }) => p50))).toBeGreaterThan(8 * 60_000);
  });

  test('half the tick, half the wait', () => {
    expect(until(hops('tick.seconds=30')).p50).toBeLessThan(0.6 * until(hops()).p50);
  });
});

describe('changed inputs', () => {
  test.each([
    'nothing=1',
    'sqs.p50',
    'sqs.p50=fast',
    'sqs.p50=-1',
    'sqs.p50=500',
    'scheduler.cold=2',
    'scheduler.memory=0',
  ])('%s is refused', (change) => {
    expect(() => changeInputs(DEFAULT_INPUTS, [change])).toThrow(UsageError);
  });

  test('a changed figure is nobody else’s any more', () => {
    const changed = changeInputs(DEFAULT_INPUTS, ['eventbridge.p99=300']).get('eventbridge.p99');
    expect(changed).toMatchObject({ value: 300, basis: 'guess' });
    expect(changed?.source).toBeUndefined();
  });

  test('what is published has a source', () => {
    const unsourced = [...DEFAULT_INPUTS].filter(([, { basis, source }]) => basis === 'published' && !source);
    expect(unsourced).toEqual([]);
  });
});
