import { describe, expect, it } from 'vitest';
import { backfillId, backfillInstants, entryTimes } from '#domain/backfill.ts';
import { compilePipeline } from '#domain/graph.ts';

const DAY = 24 * 3600 * 1000;
const FROM = Date.UTC(2026, 10, 1);

const pipeline = compilePipeline(
  {
    name: 'etl',
    schedule: [{ id: 'daily', cron: '0 0 * * *' }, { id: 'noon', cron: '0 */12 * * *' }, { rate: '1 day' }],
    nodes: [{ id: 'a', params: { function: 'f' } }],
  },
  'rev1',
);

function instants(direction: 'forward' | 'backward', entries: readonly (readonly [string, number])[]) {
  const range = { from: FROM, to: FROM + DAY, direction };
  return backfillInstants(pipeline, range, new Map(entries)).map(
    ({ entry, instant }) => `${entry.id} ${(instant - FROM) / DAY}`,
  );
}

describe('the instants of a backfill', () => {
  it('are those of all entries in order of time, both ends included, then in order of the definition', () => {
    const times = entryTimes(pipeline.schedule, new Map(), FROM + DAY / 4);
    expect(instants('forward', times)).toEqual(['daily 0', 'noon 0', '2 0.25', 'noon 0.5', 'daily 1', 'noon 1']);
    expect(instants('backward', times)).toEqual(instants('forward', times).toReversed());
  });

  it('count a rate from the creation of its entry, and leave out entries that were not there', () => {
    expect(instants('forward', [['2', FROM + DAY / 2]])).toEqual(['2 0.5']);
    const cursor = { timing: 'rate 86400000', createdAt: FROM - DAY / 4, settled: FROM };
    expect(entryTimes(pipeline.schedule, new Map([['2', cursor]]), FROM)[2]).toEqual(['2', FROM - DAY / 4]);
  });

  it('of a range that is too long end soon, and are not too few', () => {
    const minutely = {
      schedule: compilePipeline({ name: 'm', schedule: [{ cron: '* * * * *' }], nodes: [] }, 'r').schedule,
    };
    const range = { from: 0, to: FROM, direction: 'forward' as const };
    const begun = performance.now();
    expect(backfillInstants(minutely, range, new Map([['0', 0]])).length).toBeGreaterThan(1000);
    expect(performance.now() - begun).toBeLessThan(5000);
  });
});

describe('the id of a backfill', () => {
  it('is the same for the same range, direction and revision of a pipeline alone', () => {
    const range = { from: 1, to: 2, direction: 'forward' as const };
    const ids = [
      backfillId('etl', 'i', 'rev1', range),
      backfillId('etl', 'i', 'rev1', { ...range }),
      backfillId('etl', 'j', 'rev1', range),
      backfillId('etl', 'i', 'rev2', range),
      backfillId('etl', 'i', 'rev1', { ...range, direction: 'backward' }),
      backfillId('etl', 'i', 'rev1', { ...range, to: 3 }),
    ];
    expect(new Set(ids).size).toBe(5);
  });
});
