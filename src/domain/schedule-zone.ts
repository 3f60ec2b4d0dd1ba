/**
 * The clock on the wall of a time zone. A **reading** is what such a clock shows, written as the milliseconds that
 * would pass for it if the clock stood in UTC: arithmetic with readings knows no daylight saving.
 */

const DAY_MS = 24 * 3600 * 1000;

/** Formats are large; definitions may name as many zones as there are. */
const MAX_FORMATS = 100;

const formats = new Map<string, Intl.DateTimeFormat>();

/** True for a name of the IANA time zone database, as this runtime knows it; offsets such as `+01:00` are none. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/**
 * What the clock of a zone shows.
 * @param instant in milliseconds since 1970
 * @returns the reading, without fractions of a second
 * @throws RangeError for an unknown zone
 */
export function readingAt(zone: string, instant: number): number {
  const whole = Math.floor(instant / 1000) * 1000;
  if (zone === 'UTC') return whole;
  const fields = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 };
  for (const { type, value } of formatOf(zone).formatToParts(whole)) {
    if (type in fields) fields[type as keyof typeof fields] = Number(value);
  }
  return Date.UTC(fields.year, fields.month - 1, fields.day, fields.hour, fields.minute, fields.second);
}

/**
 * The instants at which the clock of a zone shows a reading, the first one first: none where the clock was put
 * forward over it, two where it was put back over it.
 */
export function instantsOf(zone: string, reading: number): readonly number[] {
  if (zone === 'UTC') return [reading];
  const instants = [...new Set(offsetsAround(zone, reading))].map((offset) => reading - offset);
  return instants.filter((instant) => readingAt(zone, instant) === reading).sort((a, b) => a - b);
}

/** Readings that a clock passes over. */
export interface ClockGap {
  /** The first one that it does not show. */
  readonly from: number;
  /** The first one that it shows again. */
  readonly to: number;
}

/** All that is skipped together with a reading that has no instant. */
export function gapAround(zone: string, reading: number): ClockGap {
  const [before, after] = offsetsAround(zone, reading);
  let [earlier, change] = [reading - after, reading - before];
  while (change - earlier > 1000) {
    const middle = Math.floor((earlier + change) / 2000) * 1000;
    if (readingAt(zone, middle) - middle === after) change = middle;
    else earlier = middle;
  }
  return { from: change + before, to: change + after };
}

/**
 * How far a clock is ahead of UTC a day before a reading, and a day after it. No clock is put forward or back twice
 * in that time, nor by more than a day.
 */
function offsetsAround(zone: string, reading: number): readonly [before: number, after: number] {
  const [before, after] = [reading - DAY_MS, reading + DAY_MS];
  return [readingAt(zone, before) - before, readingAt(zone, after) - after];
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  if (formats.size >= MAX_FORMATS) formats.clear();
  formats.set(zone, format);
  return format;
}
