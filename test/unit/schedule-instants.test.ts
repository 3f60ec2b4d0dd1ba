/** When crons and rates fire: the cases of daylight saving, zones, leap years and ends of months. */
import { describe, expect, it } from 'vitest';
import { instantsBetween, nextInstant, previousInstant } from '#domain/schedule.ts';
import { compileSchedule, type ScheduleEntry } from '#domain/schedule-entry.ts';
import { readPage, tableRows } from './docs-pages.ts';
import { clock, firings } from './schedule-oracle.ts';

const HOUR = 3600_000;
const DAY = 24 * HOUR;

function entryOf(definition: { cron: string; timezone?: string } | { rate: string }): ScheduleEntry {
  return compileSchedule([definition])[0] as ScheduleEntry;
}

const short = (instant: number | undefined) => instant && new Date(instant).toISOString().replace(':00.000', '');

/** The next instants after a time, and that the way back leads over the same ones. */
function nextOnes(cron: string, timezone: string, after: string, count: number): (string | 0 | undefined)[] {
  const entry = entryOf({ cron, timezone });
  const instants: number[] = [];
  for (let at = nextInstant(entry, Date.parse(after), 0); instants.length < count && at !== undefined; ) {
    instants.push(at);
    at = nextInstant(entry, at, 0);
  }
  const back = instants.slice(1).map((instant) => previousInstant(entry, instant, 0));
  expect(back.map(short)).toEqual(instants.slice(0, -1).map(short));
  return instants.map(short);
}

function between(cron: string, timezone: string, from: string, to: string): (string | 0 | undefined)[] {
  const range = { from: Date.parse(from), to: Date.parse(to), limit: 10_000 };
  return instantsBetween(entryOf({ cron, timezone }), range, 0).map(short);
}

describe('C68 a local time that does not exist', () => {
  it('is skipped: New York, an hour forward', () => {
    expect(nextOnes('30 2 * * *', 'America/New_York', '2026-03-07T00:00Z', 2)).toEqual([
      '2026-03-07T07:30Z',
      '2026-03-09T06:30Z',
    ]);
  });

  it('is skipped: Lord Howe, half an hour forward', () => {
    expect(nextOnes('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00Z', 1)).toEqual(['2026-10-04T15:15Z']);
    expect(nextOnes('30 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00Z', 1)).toEqual(['2026-10-03T15:30Z']);
  });

  it('is skipped where it is midnight, and where it is a whole day', () => {
    expect(between('0 0 * * *', 'America/Sao_Paulo', '2018-11-03T00:00Z', '2018-11-05T12:00Z')).toEqual([
      '2018-11-03T03:00Z',
      '2018-11-05T02:00Z',
    ]);
    expect(between('0 12 * * *', 'Pacific/Apia', '2011-12-29T00:00Z', '2012-01-01T00:00Z')).toEqual([
      '2011-12-29T22:00Z',
      '2011-12-30T22:00Z',
      '2011-12-31T22:00Z',
    ]);
  });

  it('is found in no time, wherever the search begins', () => {
    const entries = [
      entryOf({ cron: '30 2 * * *', timezone: 'America/New_York' }),
      entryOf({ cron: '15 2 * * *', timezone: 'Australia/Lord_Howe' }),
    ];
    for (const entry of entries) {
      nextInstant(entry, 0, 0);
      const begin = performance.now();
      for (let hour = 0; hour < 48; hour++) nextInstant(entry, Date.UTC(2026, 2, 7) + hour * HOUR, 0);
      expect((performance.now() - begin) / 48).toBeLessThan(50);
    }
  });
});

describe('a local time that occurs twice', () => {
  it('fires once, at the first, where the hours are fixed', () => {
    expect(nextOnes('30 1 * * *', 'America/New_York', '2026-10-31T12:00Z', 2)).toEqual([
      '2026-11-01T05:30Z',
      '2026-11-02T06:30Z',
    ]);
    const second = Date.parse('2026-11-01T06:10Z');
    const entry = entryOf({ cron: '30 1 * * *', timezone: 'America/New_York' });
    expect(short(nextInstant(entry, second, 0))).toBe('2026-11-02T06:30Z');
    expect(short(previousInstant(entry, second, 0))).toBe('2026-11-01T05:30Z');
  });

  it('fires whenever the clock shows it where the hour is open', () => {
    expect(between('*/30 * * * *', 'America/New_York', '2026-11-01T05:00Z', '2026-11-01T07:30Z')).toEqual([
      '2026-11-01T05:00Z',
      '2026-11-01T05:30Z',
      '2026-11-01T06:00Z',
      '2026-11-01T06:30Z',
      '2026-11-01T07:00Z',
      '2026-11-01T07:30Z',
    ]);
    expect(between('*/30 0-23 * * *', 'America/New_York', '2026-11-01T05:00Z', '2026-11-01T07:30Z')).toEqual([
      '2026-11-01T05:00Z',
      '2026-11-01T05:30Z',
      '2026-11-01T07:00Z',
      '2026-11-01T07:30Z',
    ]);
  });

  it('goes on hour by hour through both changes of the clock', () => {
    for (const day of ['2026-03-29', '2026-10-25']) {
      const hourly = between('0 * * * *', 'Europe/Berlin', `${day}T00:00Z`, `${day}T05:00Z`);
      expect(hourly).toEqual([0, 1, 2, 3, 4, 5].map((hour) => `${day}T0${hour}:00Z`));
    }
  });
});

describe('C70 zones that are not on the hour', () => {
  it.each([
    ['0 * * * *', 'Asia/Kolkata', ['2026-01-01T00:30Z', '2026-01-01T01:30Z']],
    ['0 * * * *', 'Asia/Kathmandu', ['2026-01-01T00:15Z', '2026-01-01T01:15Z']],
    ['15 9 * * *', 'Asia/Kolkata', ['2026-01-01T03:45Z', '2026-01-02T03:45Z']],
    ['15 9 * * *', 'Asia/Kathmandu', ['2026-01-01T03:30Z', '2026-01-02T03:30Z']],
    ['0 9 * * *', 'EST5EDT', ['2026-01-01T14:00Z', '2026-01-02T14:00Z']],
  ])('reads %s on the clock of %s', (cron, zone, instants) => {
    expect(nextOnes(cron, zone, '2026-01-01T00:00Z', 2)).toEqual(instants);
  });
});

describe('C71 the 29th of February', () => {
  it.each([
    ['0 9 29 2 *', '2024-02-29T09:00Z', '2028-02-29T09:00Z'],
    ['0 9 29 2 *', '2096-03-01T00:00Z', '2104-02-29T09:00Z'],
    ['0 0 * * *', '2024-02-29T00:00Z', '2024-03-01T00:00Z'],
    ['0 0 1 3 *', '2024-02-29T00:00Z', '2024-03-01T00:00Z'],
    ['0 0 * 2 1#5', '2072-03-01T00:00Z', '2112-02-29T00:00Z'],
  ])('%s after %s', (cron, after, next) => {
    expect(nextOnes(cron, 'UTC', after, 1)).toEqual([next]);
  });
});

describe('C73 ends of months, and both fields of the day', () => {
  const datesOf = (cron: string, from: string, to: string) =>
    between(cron, 'UTC', from, to).map((instant) => String(instant).slice(5, 10));

  it('passes over days that a month does not have', () => {
    const months = datesOf('0 0 31 * *', '2026-01-01T00:00Z', '2026-12-31T23:59Z').map((date) => date.slice(0, 2));
    expect(months).toEqual(['01', '03', '05', '07', '08', '10', '12']);
  });

  it('takes either of the day of the month and the day of the week', () => {
    const days = ['01-02', '01-09', '01-13', '01-16', '01-23', '01-30'];
    expect(datesOf('0 12 13 * 5', '2026-01-01T00:00Z', '2026-01-31T23:59Z')).toEqual(days);
    expect(datesOf('0 12 13 * FRI', '2026-01-01T00:00Z', '2026-01-31T23:59Z')).toEqual(days);
  });

  it('takes L for the last day', () => {
    expect(datesOf('0 23 L * *', '2028-02-01T00:00Z', '2028-02-29T23:59Z')).toEqual(['02-29']);
    expect(datesOf('0 23 L,15 * *', '2028-02-01T00:00Z', '2028-02-29T23:59Z')).toEqual(['02-15', '02-29']);
  });

  it('takes 0 and 7 for Sunday', () => {
    const sundays = ['03-01', '03-08', '03-15', '03-22', '03-29'];
    for (const day of ['0', '7', 'SUN']) {
      expect(datesOf(`0 0 * * ${day}`, '2026-03-01T00:00Z', '2026-03-31T00:00Z')).toEqual(sundays);
    }
  });

  it('takes the nth and the last weekday of a month', () => {
    expect(datesOf('0 9 * * MON#2', '2026-01-01T00:00Z', '2026-03-31T00:00Z')).toEqual(['01-12', '02-09', '03-09']);
    expect(datesOf('0 9 * * 5L', '2026-01-01T00:00Z', '2026-03-31T00:00Z')).toEqual(['01-30', '02-27', '03-27']);
  });
});

describe('rates', () => {
  const createdAt = Date.parse('2026-03-07T10:17:31.250Z');

  it('count from the creation of the entry, the first one a whole time after it', () => {
    const entry = entryOf({ rate: '15 minutes' });
    const first = createdAt + 15 * 60_000;
    expect(nextInstant(entry, 0, createdAt)).toBe(first);
    expect(nextInstant(entry, createdAt, createdAt)).toBe(first);
    expect(nextInstant(entry, first, createdAt)).toBe(first + 15 * 60_000);
    expect(nextInstant(entry, first - 1, createdAt)).toBe(first);
    expect(previousInstant(entry, first, createdAt)).toBe(createdAt);
    expect(previousInstant(entry, first + 1, createdAt)).toBe(first);
  });

  it('ignore daylight saving', () => {
    const [entry] = compileSchedule([{ rate: '1 day', timezone: 'America/New_York' }]) as [ScheduleEntry];
    expect(nextInstant(entry, createdAt + 1, createdAt)).toBe(createdAt + DAY);
    expect(nextInstant(entry, createdAt + DAY, createdAt)).toBe(createdAt + 2 * DAY);
  });

  it('are counted backwards for a time before the entry', () => {
    const range = { from: createdAt - 2 * HOUR, to: createdAt + HOUR, limit: 10 };
    const instants = [-2, -1, 0, 1].map((count) => createdAt + count * HOUR);
    expect(instantsBetween(entryOf({ rate: '1 hour' }), range, createdAt)).toEqual(instants);
  });
});

describe('instantsBetween', () => {
  it('has both ends, and no more than it is asked for', () => {
    const entry = entryOf({ cron: '0 * * * *' });
    const at = (hour: number) => Date.UTC(2026, 0, 1, hour);
    expect(instantsBetween(entry, { from: at(1), to: at(3), limit: 10 }, 0)).toEqual([at(1), at(2), at(3)]);
    expect(instantsBetween(entry, { from: at(1), to: at(9), limit: 2 }, 0)).toEqual([at(1), at(2)]);
    expect(instantsBetween(entry, { from: at(3), to: at(1), limit: 2 }, 0)).toEqual([]);
  });
});

describe('the table of the reference', () => {
  const rows = tableRows(readPage('docs/reference/schedules.md'), 'Daylight saving').filter((row) => row.has('zone'));

  it('has many examples', () => {
    expect(rows.length).toBeGreaterThan(6);
  });

  it.each(rows.map((row) => Object.fromEntries(row)))('$cron in $zone on $day', (row) => {
    const { cron = '', zone = '', day = '' } = row;
    const [, date = '', until] = /^(\S+?)(?:, to (\d+):00)?$/.exec(day) ?? [];
    const noon = Date.parse(`${date}T12:00Z`);
    const watched = clock(zone, noon - 3 * DAY, noon + 2 * DAY);
    const ofDay = new Map(
      watched
        .filter((shown) => new Date(Date.UTC(shown.year, shown.month - 1, shown.day)).toISOString().startsWith(date))
        .filter(({ hour }) => until === undefined || hour < Number(until))
        .map((shown) => [shown.instant, shown]),
    );
    const told = row['fires at (UTC)'] === 'never' ? [] : row['fires at (UTC)']?.split(', ');
    const timeOf = (instant: number) => new Date(instant).toISOString().slice(11, 16);
    expect(
      firings(cron, watched)
        .filter((instant) => ofDay.has(instant))
        .map(timeOf),
    ).toEqual(told);
    const range = { from: watched[0]?.instant ?? 0, to: watched.at(-1)?.instant ?? 0, limit: 1000 };
    const found = instantsBetween(entryOf({ cron, timezone: zone }), range, 0);
    expect(found.filter((instant) => ofDay.has(instant)).map(timeOf)).toEqual(told);
  });
});
