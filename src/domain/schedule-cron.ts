/**
 * Cron expressions of five fields. The library reads them and walks through the readings of a clock that knows no
 * daylight saving; what a change of the clock means is decided in `schedule.ts`.
 */
import { Cron } from 'croner';

/** A cron expression that was understood. */
export interface ParsedCron {
  /**
   * True where the hours are fixed: a reading that occurs twice fires once. False where the field of the hour
   * begins with `*`: every reading that fits fires whenever the clock shows it.
   */
  readonly hasFixedHours: boolean;
  /** The first reading after another one that fits; `undefined` where none ever does. */
  readonly next: (reading: number) => number | undefined;
  /** The last reading before another one that fits; `undefined` where none ever did. */
  readonly previous: (reading: number) => number | undefined;
}

/** What is wrong with a cron expression. */
export interface CronProblem {
  readonly problem: string;
  readonly allowed: string;
}

const MONTHS = 'JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC';
const WEEKDAYS = 'SUN|MON|TUE|WED|THU|FRI|SAT';
const MINUTE_MS = 60_000;
const MAX_LENGTH = 500;

const FIELDS = [
  { name: 'minute', shape: shapeOf('\\d{1,2}'), allowed: '0 to 59' },
  { name: 'hour', shape: shapeOf('\\d{1,2}'), allowed: '0 to 23' },
  { name: 'day of month', shape: shapeOf('\\d{1,2}', 'L'), allowed: '1 to 31, or L for the last day' },
  { name: 'month', shape: shapeOf(`\\d{1,2}|${MONTHS}`), allowed: '1 to 12, or JAN to DEC' },
  {
    name: 'day of week',
    shape: shapeOf(`\\d|${WEEKDAYS}`, `(?:\\d|${WEEKDAYS})(?:#[1-5]|L)`),
    allowed: '0 to 7 (0 and 7 are Sunday), or SUN to SAT; 1#2 for the second Monday of a month, 5L for its last Friday',
  },
] as const;

/** A list of `*`, values and ranges, of which `*` and ranges may have steps. */
function shapeOf(value: string, special?: string): RegExp {
  const item = `(?:(?:\\*|(?:${value})-(?:${value}))(?:/\\d{1,2})?|(?:${value})${special === undefined ? '' : `|${special}`})`;
  return new RegExp(`^${item}(?:,${item})*$`, 'i');
}

/** Reads a cron expression. */
export function parseCron(text: string): ParsedCron | CronProblem {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== FIELDS.length || text.length > MAX_LENGTH) {
    const problem = text.length > MAX_LENGTH ? `it is longer than ${MAX_LENGTH} characters` : 'it has not five fields';
    return { problem, allowed: 'five fields: minute, hour, day of month, month, day of week' };
  }
  for (const [position, { name, shape, allowed }] of FIELDS.entries()) {
    const field = fields[position] as string;
    // Tried with all other fields open, so that the one at fault is known.
    const alone = fields.map((_, other) => (other === position ? field : '*')).join(' ');
    if (shape.test(field) && tryCron(alone) !== undefined) continue;
    return { problem: `its ${name} is ${JSON.stringify(field)}`, allowed: `${name}: ${allowed}` };
  }
  const cron = tryCron(fields.join(' ')) as Cron;
  return {
    hasFixedHours: !(fields[1] as string).startsWith('*'),
    next: (reading) => cron.nextRun(new Date(Math.floor(reading / MINUTE_MS) * MINUTE_MS))?.getTime(),
    previous: (reading) => cron.previousRuns(1, new Date(Math.ceil(reading / MINUTE_MS) * MINUTE_MS))[0]?.getTime(),
  };
}

function tryCron(text: string): Cron | undefined {
  try {
    return new Cron(text, { timezone: 'UTC', mode: '5-part', domAndDow: false, paused: true });
  } catch {
    return undefined;
  }
}
