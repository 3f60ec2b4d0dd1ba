/** Crons of every form, in zones that do what zones do, against an oracle that looks at every minute. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDefinition } from '#domain/definition-schema.ts';
import { instantsBetween, nextInstant, previousInstant } from '#domain/schedule.ts';
import { compileSchedule, type ScheduleEntry } from '#domain/schedule-entry.ts';
import { clock, firings } from './schedule-oracle.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Around what happens to a clock. */
const STRETCHES: readonly [zone: string, date: string][] = [
  ['UTC', '2028-02-28'],
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2026-11-01'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['Australia/Lord_Howe', '2026-10-04'],
  ['Asia/Kathmandu', '2026-01-01'],
  ['Pacific/Apia', '2011-12-30'],
  ['Pacific/Apia', '2012-04-01'],
  ['America/Sao_Paulo', '2018-11-04'],
  ['America/Sao_Paulo', '2018-02-18'],
  ['Antarctica/Troll', '2026-03-29'],
  ['Antarctica/Troll', '2026-10-25'],
  ['Europe/Dublin', '2026-10-25'],
  ['Africa/Casablanca', '2026-02-15'],
];

const watched = STRETCHES.map(([zone, date]) => {
  const middle = Date.parse(`${date}T00:00Z`);
  const shown = clock(zone, middle - 4 * DAY, middle + 3 * DAY);
  const turn = shown.findIndex(
    ({ minute }, index) => index > 0 && minute !== ((shown[index - 1]?.minute ?? 0) + 1) % 60,
  );
  const jump = shown.findIndex(
    ({ hour }, index) => index > 0 && ![0, 1, -23].includes(hour - (shown[index - 1]?.hour ?? 0)),
  );
  return { zone, shown, turn: Math.max(turn, jump, 0) * MINUTE };
});

const within = (low: number, high: number) => fc.integer({ min: low, max: high });

/** `*`, values, ranges, steps and lists of them. */
function field(low: number, high: number): fc.Arbitrary<string> {
  const range = fc.tuple(within(low, high), within(low, high)).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const item = fc.oneof(
    within(low, high).map(String),
    range,
    fc.tuple(range, within(1, 5)).map(([text, step]) => `${text}/${step}`),
  );
  return fc.oneof(
    fc.constant('*'),
    within(2, Math.min(high, 20)).map((step) => `*/${step}`),
    fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(',')),
  );
}

const days = fc.oneof({ weight: 4, arbitrary: fc.constant('*') }, field(1, 31), fc.constantFrom('L', 'L,15', '29'));
const months = fc.oneof(
  { weight: 6, arbitrary: fc.constant('*') },
  field(1, 12),
  fc.constantFrom('MAR,OCT', 'JAN-APR'),
);
const weekdays = fc.oneof(
  { weight: 4, arbitrary: fc.constant('*') },
  field(0, 6),
  fc.constantFrom('7', '0', '5-7', 'SUN', 'MON-FRI', '0#1', '7L', '0#5', '1#1,3#2', 'SUN,WED'),
);
const crons = fc
  .tuple(field(0, 59), field(0, 23), days, months, weekdays)
  .map((fields) => fields.join(' '))
  .filter((cron) => !cron.includes('LL'));

const entryOf = (cron: string, timezone: string) => compileSchedule([{ cron, timezone }])[0] as ScheduleEntry;

describe('a text for a cron', () => {
  const characters = fc.string({ unit: fc.constantFrom(...'0123456789*/-,L#? MONJAN'), maxLength: 40 });

  it('is an instant, or an error at its place, and never long to judge', () => {
    fc.assert(
      fc.property(
        fc.oneof(crons, characters, fc.string()),
        fc.constantFrom('UTC', 'Europe/Berlin'),
        (cron, timezone) => {
          const result = parseDefinition({
            name: 'p',
            schedule: [{ cron, timezone }],
            nodes: [{ id: 'a', engine: 'task' }],
          });
          if (result.ok) expect(nextInstant(entryOf(cron, timezone), 0, 0)).toBeTypeOf('number');
          else
            expect(result.errors).toMatchObject([
              { path: 'schedule[0].cron', code: expect.stringMatching(/^(INVALID_CRON|NEVER_FIRES)$/) },
            ]);
        },
      ),
      { numRuns: 300, interruptAfterTimeLimit: 20_000, markInterruptAsFailure: true },
    );
  });
});

describe('instants', () => {
  it('are those of a clock that is watched minute by minute, on the way there and back', () => {
    const anywhere = fc.array(within(2 * DAY, 7 * DAY - 1), { minLength: 3, maxLength: 3 });
    const nearTurn = fc.array(within(-3 * HOUR, 3 * HOUR), { minLength: 6, maxLength: 6 });
    fc.assert(
      fc.property(
        crons,
        fc.constantFrom(...watched),
        anywhere,
        nearTurn,
        (cron, { zone, shown, turn }, places, near) => {
          const begin = shown[0]?.instant as number;
          const fired = firings(cron, shown);
          const entry = entryOf(cron, zone);
          for (const offset of [...places, ...near.map((place) => Math.max(turn, 3 * DAY) + place)]) {
            const at = begin + offset;
            const next = nextInstant(entry, at, 0) ?? Number.POSITIVE_INFINITY;
            const soon = fired.find((instant) => instant > at);
            if (soon !== undefined) expect(next).toBe(soon);
            else expect(next).toBeGreaterThan(shown.at(-1)?.instant as number);
            const previous = previousInstant(entry, at, 0) ?? Number.NEGATIVE_INFINITY;
            const last = fired.findLast((instant) => instant < at && instant >= begin + 2 * DAY);
            if (last !== undefined) expect(previous).toBe(last);
            else expect(previous).toBeLessThan(begin + 2 * DAY);
          }
        },
      ),
      { numRuns: 250 },
    );
  });

  it('are the same one by one as asked for in one stretch, and in order', () => {
    fc.assert(
      fc.property(crons, fc.constantFrom(...watched), (cron, { zone, shown }) => {
        const [from, to] = [(shown[0]?.instant as number) + 2 * DAY, shown.at(-1)?.instant as number];
        const found = instantsBetween(entryOf(cron, zone), { from, to, limit: 30 }, 0);
        expect(found).toEqual(
          firings(cron, shown)
            .filter((instant) => instant >= from)
            .slice(0, 30),
        );
      }),
      { numRuns: 100 },
    );
  });

  it('of a rate lie at whole multiples of it from its creation', () => {
    fc.assert(
      fc.property(within(1, 10_000), within(0, 2 ** 41), within(-(2 ** 40), 2 ** 40), (minutes, createdAt, offset) => {
        const [entry] = compileSchedule([{ rate: `${minutes} minutes` }]) as [ScheduleEntry];
        const after = createdAt + offset;
        const next = nextInstant(entry, after, createdAt) as number;
        expect((next - createdAt) % (minutes * MINUTE)).toBe(0);
        expect(next).toBeGreaterThan(Math.max(after, createdAt));
        expect(next - Math.max(after, createdAt)).toBeLessThanOrEqual(minutes * MINUTE);
        expect(previousInstant(entry, next, createdAt)).toBe(next - minutes * MINUTE);
      }),
    );
  });
});
