/** Which instants start a run: edits, pauses, outages, and the same tick more than once. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ScheduleEntryDefinition } from '#domain/definition.ts';
import { carryCursors, instantsToStart, MAX_CATCH_UP, nextDue, type ScheduleCursor } from '#domain/schedule-cursor.ts';
import { compileSchedule, type ScheduleEntry } from '#domain/schedule-entry.ts';
import { readPage } from './docs-pages.ts';

const MINUTE = 60_000;
const TICK = MINUTE;
const at = (time: string) => Date.parse(`2026-06-15T${time}Z`);
const timeOf = (instant: number) => new Date(instant).toISOString().slice(11, 16);

/** A pipeline with one entry, on a clock that the test moves. */
class Timetable {
  entry: ScheduleEntry;
  cursor: ScheduleCursor;
  readonly started: string[] = [];

  constructor(definition: ScheduleEntryDefinition, now: number) {
    this.entry = compileSchedule([definition])[0] as ScheduleEntry;
    this.cursor = carryCursors([this.entry], new Map(), now).get(this.entry.id) as ScheduleCursor;
  }

  edit(definition: ScheduleEntryDefinition, now: number): void {
    this.entry = compileSchedule([definition])[0] as ScheduleEntry;
    const known = new Map([[this.entry.id, this.cursor]]);
    this.cursor = carryCursors([this.entry], known, now).get(this.entry.id) as ScheduleCursor;
  }

  tick(now: number, isPaused = false): readonly string[] {
    const { instants, cursor } = instantsToStart(this.entry, this.cursor, { now, tickMs: TICK, isPaused });
    this.cursor = cursor;
    this.started.push(...instants.map(timeOf));
    return instants.map(timeOf);
  }

  /** Ticks each minute, from the first time to the last. */
  ticks(from: number, to: number, isPaused = false): void {
    for (let now = from; now <= to; now += TICK) this.tick(now, isPaused);
  }

  get next(): string {
    return new Date(nextDue(this.entry, this.cursor) as number).toISOString().slice(0, 16);
  }
}

describe('C74 an edit of a schedule', () => {
  function ranToday(): Timetable {
    const timetable = new Timetable({ cron: '0 9 * * *', catchUp: 'all' }, at('00:00:00'));
    timetable.ticks(at('08:58:20'), at('09:59:20'));
    expect(timetable.started).toEqual(['09:00']);
    return timetable;
  }

  it('fires no instant of the day that is over', () => {
    const timetable = ranToday();
    timetable.edit({ cron: '10 9 * * *', catchUp: 'all' }, at('10:00:00'));
    timetable.ticks(at('10:00:20'), at('23:59:20'));
    expect(timetable.started).toEqual(['09:00']);
    expect(timetable.next).toBe('2026-06-16T09:10');
  });

  it('fires the new time today where it is still to come, once', () => {
    const timetable = ranToday();
    timetable.edit({ cron: '10 9 * * *' }, at('10:00:00'));
    timetable.edit({ cron: '30 10 * * *' }, at('10:01:00'));
    timetable.ticks(at('10:01:20'), at('23:59:20'));
    expect(timetable.started).toEqual(['09:00', '10:30']);
  });

  it('begins strictly after it', () => {
    const timetable = new Timetable({ cron: '* * * * *' }, at('09:59:00'));
    timetable.edit({ cron: '0 10 * * *', catchUp: 'all' }, at('10:00:00'));
    expect(timetable.next).toBe('2026-06-16T10:00');
  });

  it('of anything but the timing leaves the next instant, and where a rate counts from', () => {
    const timetable = new Timetable({ rate: '2 hours' }, at('08:30:00'));
    const { next, cursor } = timetable;
    timetable.edit({ rate: '2 hours', timezone: 'Europe/Berlin', input: { n: 1 }, catchUp: 'latest' }, at('10:00:00'));
    expect(timetable.cursor).toEqual(cursor);
    expect(timetable.next).toBe(next);
    timetable.edit({ rate: '3 hours' }, at('10:00:00'));
    expect(timetable.next).toBe('2026-06-15T13:00');
  });

  it('of the zone of a cron makes it another entry', () => {
    const timetable = new Timetable({ cron: '0 9 * * *' }, at('00:00:00'));
    timetable.edit({ cron: '0 9 * * *', timezone: 'America/New_York' }, at('10:00:00'));
    expect(timetable.next).toBe('2026-06-15T13:00');
    expect(timetable.cursor.createdAt).toBe(at('10:00:00'));
  });

  it('keeps entries by their ids when others come and go', () => {
    const two = compileSchedule([
      { id: 'a', rate: '1 hour' },
      { id: 'b', rate: '2 hours' },
    ]);
    const known = carryCursors(two, new Map(), at('08:00:00'));
    const turned = compileSchedule([
      { id: 'c', rate: '1 hour' },
      { id: 'b', rate: '2 hours' },
    ]);
    const carried = carryCursors(turned, known, at('09:00:00'));
    expect([...carried.keys()]).toEqual(['c', 'b']);
    expect(carried.get('b')).toBe(known.get('b'));
    expect(carried.get('c')?.createdAt).toBe(at('09:00:00'));
  });
});

describe('C76 instants inside a pause', () => {
  it('are not due later, whatever is caught up', () => {
    const timetable = new Timetable({ cron: '* * * * *', catchUp: 'all' }, at('09:58:30'));
    timetable.ticks(at('09:59:05'), at('10:00:05'));
    timetable.ticks(at('10:01:05'), at('10:30:05'), true);
    timetable.tick(at('10:30:10'), true);
    timetable.ticks(at('10:30:15'), at('10:32:15'));
    expect(timetable.started).toEqual(['09:59', '10:00', '10:31', '10:32']);
  });

  it('are settled by one look at its end, too', () => {
    const timetable = new Timetable({ cron: '* * * * *', catchUp: 'all' }, at('10:00:10'));
    timetable.tick(at('10:30:10'), true);
    timetable.ticks(at('10:30:15'), at('10:31:15'));
    expect(timetable.started).toEqual(['10:31']);
  });

  it('are not due for a pipeline that is made anew', () => {
    const timetable = new Timetable({ cron: '* * * * *', catchUp: 'all' }, at('10:40:10'));
    timetable.ticks(at('10:40:15'), at('10:41:15'));
    expect(timetable.started).toEqual(['10:41']);
  });
});

describe('C77 one tick, looked at more than once', () => {
  const moment = { now: at('10:00:01'), tickMs: TICK };

  it.each(['none', 'latest', 'all'] as const)('gives the same instants to each who looks: %s', (catchUp) => {
    const { entry, cursor } = new Timetable({ cron: '0 * * * *', catchUp }, at('09:30:00'));
    const [first, second] = [instantsToStart(entry, cursor, moment), instantsToStart(entry, cursor, moment)];
    expect(first.instants.map(timeOf)).toEqual(['10:00']);
    expect(second).toEqual(first);
  });

  it.each(['none', 'latest', 'all'] as const)('gives nothing more once the cursor is kept: %s', (catchUp) => {
    const timetable = new Timetable({ cron: '0 * * * *', catchUp }, at('09:30:00'));
    timetable.ticks(at('09:59:59'), at('09:59:59'));
    timetable.tick(at('10:00:00'));
    timetable.tick(at('10:00:00'));
    timetable.tick(at('10:00:01'));
    // A scheduler whose clock is behind.
    timetable.tick(at('09:59:58'));
    timetable.ticks(at('10:01:00'), at('10:59:59'));
    expect(timetable.started).toEqual(['10:00']);
  });

  it('starts each instant at most once, in order, however the ticks fall', () => {
    const definitions = fc.record({
      cron: fc.constantFrom('* * * * *', '*/7 * * * *', '0 * * * *'),
      catchUp: fc.constantFrom('none' as const, 'latest' as const, 'all' as const),
      catchUpWindowSeconds: fc.integer({ min: 60, max: 7200 }),
    });
    const looks = fc.array(fc.tuple(fc.integer({ min: -MINUTE, max: 40 * MINUTE }), fc.boolean()), { maxLength: 40 });
    fc.assert(
      fc.property(definitions, looks, (definition, steps) => {
        let [now, last] = [at('00:00:00'), 0];
        const timetable = new Timetable(definition, now);
        for (const [step, isPaused] of steps) {
          now += step;
          const { instants, cursor } = instantsToStart(timetable.entry, timetable.cursor, {
            now,
            tickMs: TICK,
            isPaused,
          });
          for (const instant of instants) {
            expect(instant).toBeGreaterThan(last);
            expect(instant).toBeLessThanOrEqual(now);
            last = instant;
          }
          expect(cursor.settled).toBeGreaterThanOrEqual(Math.max(last, timetable.cursor.settled));
          timetable.cursor = cursor;
        }
      }),
    );
  });
});

describe('C79 a pipeline that is paused and resumed', () => {
  it('starts the first instant after it goes on, once', () => {
    const timetable = new Timetable({ cron: '*/5 * * * *' }, at('09:58:00'));
    timetable.tick(at('09:59:30'), true);
    timetable.tick(at('10:00:30'), true);
    timetable.tick(at('10:01:30'));
    timetable.tick(at('10:01:30'));
    expect(timetable.started).toEqual([]);
    timetable.ticks(at('10:02:30'), at('10:09:30'));
    expect(timetable.started).toEqual(['10:05']);
  });

  it('starts nothing for an instant that nobody took before the pause', () => {
    const timetable = new Timetable({ cron: '*/5 * * * *' }, at('09:58:00'));
    timetable.tick(at('10:00:01'), true);
    timetable.ticks(at('10:00:02'), at('10:04:02'));
    expect(timetable.started).toEqual([]);
  });

  it('changes nothing when it is paused twice', () => {
    const timetable = new Timetable({ cron: '*/5 * * * *' }, at('09:58:00'));
    timetable.tick(at('10:00:01'), true);
    const { cursor } = timetable;
    timetable.tick(at('10:00:02'), true);
    expect(timetable.cursor).toBe(cursor);
  });
});

describe('missed instants', () => {
  const outage = (definition: ScheduleEntryDefinition, back: string) =>
    new Timetable(definition, at('09:30:30')).tick(at(back));

  it('are none as long as nothing is older than two ticks and a minute', () => {
    for (const catchUp of ['none', 'latest', 'all'] as const) {
      expect(outage({ cron: '* * * * *', catchUp }, '09:33:59')).toEqual(['09:31', '09:32', '09:33']);
      expect(outage({ cron: '* * * * *', catchUp }, '09:34:01')).toHaveLength(catchUp === 'all' ? 4 : 1);
    }
  });

  it('are lost with none, but for one that is on time', () => {
    expect(outage({ cron: '* * * * *' }, '10:30:10')).toEqual(['10:30']);
    expect(outage({ cron: '0 * * * *' }, '12:30:10')).toEqual([]);
    expect(outage({ cron: '0 * * * *' }, '12:02:59')).toEqual(['12:00']);
  });

  it('start the newest one with latest, however old', () => {
    expect(outage({ cron: '0 * * * *', catchUp: 'latest' }, '12:30:10')).toEqual(['12:00']);
    expect(outage({ cron: '0 10 * * *', catchUp: 'latest' }, '23:59:59')).toEqual(['10:00']);
  });

  it('start those inside the window with all, the oldest first', () => {
    const entry = { cron: '0 * * * *', catchUp: 'all', catchUpWindowSeconds: 2 * 3600 } as const;
    expect(outage(entry, '13:00:00')).toEqual(['11:00', '12:00', '13:00']);
    expect(outage(entry, '13:00:01')).toEqual(['12:00', '13:00']);
  });

  it('start the newest thousand at most, found without a walk through all', () => {
    const [entry] = compileSchedule([{ cron: '* * * * *', catchUp: 'all', catchUpWindowSeconds: 31_536_000 }]) as [
      ScheduleEntry,
    ];
    const now = at('10:00:30');
    const cursor = carryCursors([entry], new Map(), now - 360 * 24 * 60 * MINUTE).get('0') as ScheduleCursor;
    const begin = performance.now();
    const { instants } = instantsToStart(entry, cursor, { now, tickMs: TICK });
    expect(performance.now() - begin).toBeLessThan(2000);
    expect(instants).toHaveLength(MAX_CATCH_UP);
    expect([instants[0], instants.at(-1)]).toEqual([at('10:00:00') - 999 * MINUTE, at('10:00:00')]);
  });

  it('come in portions where not all are wanted at once', () => {
    const timetable = new Timetable({ cron: '0 * * * *', catchUp: 'all' }, at('00:30:00'));
    const portions: string[][] = [];
    for (let hasMore = true; hasMore; ) {
      const due = instantsToStart(timetable.entry, timetable.cursor, { now: at('05:30:00'), tickMs: TICK, limit: 2 });
      portions.push(due.instants.map(timeOf));
      timetable.cursor = due.cursor;
      hasMore = due.hasMore;
    }
    expect(portions).toEqual([['01:00', '02:00'], ['03:00', '04:00'], ['05:00']]);
  });

  it('are told of in the reference with the numbers of the code', () => {
    const { text } = readPage('docs/reference/schedules.md');
    expect(text).toContain(`the newest ${MAX_CATCH_UP}, the oldest first`);
    expect(text).toContain('two ticks and a minute: three minutes on AWS');
  });
});
