import { describe, expect, it } from 'vitest';
import { type Chaos, createChaos } from '#local/chaos.ts';
import { parseChaos } from '#local/chaos-spec.ts';

const [event, target] = [{}, {}] as Parameters<Chaos['deliver']>;
const fates = (text: string, seed: number, count = 200) => {
  const chaos = createChaos(parseChaos(text), seed);
  return { chaos, fates: Array.from({ length: count }, () => chaos.deliver(event, target)) };
};

describe('parseChaos', () => {
  it('reads every part', () => {
    expect(
      parseChaos(
        'drop-events=0.2, repeat-events=1,delay-events=1.5s,kill=api:0.2,kill=scheduler:0.3,throttle=PutItem:0.1',
      ),
    ).toEqual({
      dropEvents: 0.2,
      repeatEvents: 1,
      delayEventsMs: 1500,
      kill: new Map([
        ['api', 0.2],
        ['scheduler', 0.3],
      ]),
      throttle: new Map([['PutItem', 0.1]]),
    });
  });

  it.each([
    ['drop-event=1', '"drop-event=1"', 'drop-events=P'],
    ['', '""', 'drop-events=P'],
    ['drop-events=2', '"drop-events=2"', 'from 0 to 1'],
    ['drop-events=', '"drop-events="', 'from 0 to 1'],
    ['repeat-events=often', '"repeat-events=often"', 'from 0 to 1'],
    ['delay-events=2', '"delay-events=2"', '500ms or 2s'],
    ['delay-events=16m', '"delay-events=16m"', 'at most 15m'],
    ['kill=0.3', '"kill=0.3"', 'kill=api:0.2'],
    ['kill=api:x', '"kill=api:x"', 'from 0 to 1'],
    ['throttle=Nothing:0.1', '"throttle=Nothing:0.1"', 'StartExecution'],
    ['drop-events=0,drop-events=1', '"drop-events=1"', 'twice'],
    ['kill=a:0,kill=a:1', '"kill=a:1"', 'twice'],
  ])('refuses %j, naming the part and what would be right', (text, part, right) => {
    expect(() => parseChaos(text)).toThrow(
      expect.objectContaining({ code: 'INVALID_CHAOS', message: expect.stringContaining(part) }),
    );
    expect(() => parseChaos(text)).toThrow(right);
  });
});

describe('createChaos', () => {
  it('makes the same choices again with the same seed, and others with another', () => {
    const text = 'drop-events=0.3,repeat-events=0.5,delay-events=1s';
    expect(fates(text, 7).fates).toEqual(fates(text, 7).fates);
    expect(fates(text, 7).fates).not.toEqual(fates(text, 8).fates);
  });

  it('drops all at 1 and none at 0, and counts', () => {
    const all = fates('drop-events=1', 1);
    expect(new Set(all.fates)).toEqual(new Set(['drop']));
    expect(all.chaos.counters.dropped).toBe(200);
    expect(new Set(fates('drop-events=0', 1).fates)).toEqual(new Set([1]));
  });

  it('repeats with two to five copies', () => {
    const { fates: copies, chaos } = fates('repeat-events=1', 1);
    expect(new Set(copies)).toEqual(new Set([2, 3, 4, 5]));
    expect(chaos.counters.repeated).toBe(200);
  });

  it('delays within the given time', () => {
    const { fates: late } = fates('delay-events=100ms', 1);
    const delays = late.map((fate) => (typeof fate === 'object' ? fate.delayMs : -1));
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...delays)).toBeLessThanOrEqual(100);
    expect(new Set(delays).size).toBeGreaterThan(100);
  });

  it('kills only the functions named, with their chance, inside one and a half times their usual duration', () => {
    const chaos = createChaos(parseChaos('kill=api:0.5'), 3);
    expect(chaos.planKill('scheduler')).toBeUndefined();
    for (const ms of [10, 12, 11, 900]) chaos.took('api', ms);
    const plans = Array.from({ length: 400 }, () => chaos.planKill('api')).filter((plan) => plan !== undefined);
    expect(plans.length).toBeGreaterThan(150);
    expect(plans.length).toBeLessThan(250);
    expect(Math.max(...plans.map(({ afterMs }) => afterMs))).toBeLessThanOrEqual(18);
    expect(chaos.counters.killed.size).toBe(0);
    plans[0]?.happened();
    expect(chaos.counters.killed.get('api')).toBe(1);
  });

  it('does not let one kind of trouble change the choices of another', () => {
    const alone = fates('drop-events=0.3', 5).fates.map((fate) => fate === 'drop');
    const together = fates('drop-events=0.3,repeat-events=0.5', 5).fates.map((fate) => fate === 'drop');
    expect(together).toEqual(alone);
  });

  it('throttles the named API', () => {
    const chaos = createChaos(parseChaos('throttle=StartExecution:1'), 1);
    expect([chaos.throttles('StartExecution'), chaos.throttles('PutItem')]).toEqual([true, false]);
    expect(chaos.counters.throttled.get('StartExecution')).toBe(1);
  });
});
