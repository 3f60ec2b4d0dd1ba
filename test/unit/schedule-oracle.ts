/**
 * When a cron fires, found the slow way: every minute of a stretch of time is looked at on the clock of the zone, and
 * each field is compared with it by itself. Shares nothing with the code that it judges.
 */

const MINUTE = 60_000;
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

/** What the clock of a zone shows at a minute. */
export interface Shown {
  readonly instant: number;
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  /** True where it has shown the same before. */
  readonly isRepeated: boolean;
}

/** What the clock of a zone shows at each minute of a stretch of time. */
export function clock(zone: string, from: number, to: number): readonly Shown[] {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  const shownBefore = new Set<string>();
  return Array.from({ length: (to - from) / MINUTE }, (_, index) => {
    const instant = from + index * MINUTE;
    const [year, month, day, hour, minute] = format.format(instant).split(/\D/).map(Number) as [
      number,
      number,
      number,
      number,
      number,
    ];
    const text = `${year}-${month}-${day} ${hour}:${minute}`;
    const isRepeated = shownBefore.has(text);
    shownBefore.add(text);
    return { instant, year, month, day, hour, minute, isRepeated };
  });
}

/** The instants at which a cron fires, of those that the clock was watched at: the first day of them is too few. */
export function firings(cron: string, watched: readonly Shown[]): readonly number[] {
  const [minutes, hours, days, months, weekdays] = cron.split(' ') as [string, string, string, string, string];
  const fits = {
    minute: values(minutes, 0, 59),
    hour: values(hours, 0, 23),
    month: values(named(months, MONTHS, 1), 1, 12),
  };
  const namedDays = named(weekdays, WEEKDAYS, 0);
  return watched
    .filter(
      (shown) =>
        fits.minute.has(shown.minute) &&
        fits.hour.has(shown.hour) &&
        fits.month.has(shown.month) &&
        (hours.startsWith('*') || !shown.isRepeated) &&
        isDay(days, namedDays, shown),
    )
    .map(({ instant }) => instant);
}

function values(field: string, lowest: number, highest: number): ReadonlySet<number> {
  const all = Array.from({ length: highest - lowest + 1 }, (_, index) => lowest + index);
  return new Set(all.filter((value) => has(field, value, lowest, highest)));
}

function isDay(days: string, weekdays: string, { year, month, day }: Shown): boolean {
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
  const isDayOfMonth = days.split(',').some((item) => (item === 'L' ? day === lastDay : has(item, day, 1, 31)));
  const isDayOfWeek = weekdays.split(',').some((item) => {
    const [, which, nth] = /^(\d)(?:#(\d)|L)$/.exec(item) ?? [];
    if (which === undefined) return has(item, weekday, 0, 7) || (weekday === 0 && has(item, 7, 0, 7));
    if (Number(which) % 7 !== weekday) return false;
    return nth === undefined ? day > lastDay - 7 : Math.ceil(day / 7) === Number(nth);
  });
  if (days === '*') return isDayOfWeek;
  return weekdays === '*' ? isDayOfMonth : isDayOfMonth || isDayOfWeek;
}

function has(field: string, value: number, lowest: number, highest: number): boolean {
  return field.split(',').some((item) => {
    const [range = '', step = '1'] = item.split('/');
    const [low, high = low] = range === '*' ? [lowest, highest] : range.split('-').map(Number);
    return value >= (low as number) && value <= (high as number) && (value - (low as number)) % Number(step) === 0;
  });
}

function named(field: string, names: readonly string[], first: number): string {
  return names.reduce((text, name, index) => text.replaceAll(name, String(index + first)), field);
}
