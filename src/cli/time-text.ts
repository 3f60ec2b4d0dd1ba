const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A moment: milliseconds since 1970, or ISO 8601, as the API writes it. */
export type Moment = number | string;

/** A moment in milliseconds since 1970. */
export function toMs(moment: Moment): number {
  return typeof moment === 'number' ? moment : Date.parse(moment);
}

/** A length of time as people read it: `85 ms`, `1.24 s`, `2 min 5 s`, `3 h 12 min`, `2 d 4 h`. */
export function duration(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_995) return `${(ms / SECOND).toFixed(2)} s`;
  if (ms < HOUR - SECOND / 2) return twoParts(ms, MINUTE, 'min', SECOND, 's');
  if (ms < DAY - MINUTE / 2) return twoParts(ms, HOUR, 'h', MINUTE, 'min');
  return twoParts(ms, DAY, 'd', HOUR, 'h');
}

function twoParts(ms: number, unit: number, name: string, part: number, partName: string): string {
  const parts = Math.round(ms / part);
  const perUnit = unit / part;
  const rest = parts % perUnit;
  return `${Math.floor(parts / perUnit)} ${name}${rest === 0 ? '' : ` ${rest} ${partName}`}`;
}

/** A length of time in whole seconds where it is at least one, so that a table does not pretend to know more. */
function roughly(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  if (ms < SECOND) return 'less than 1 s';
  return ms < MINUTE ? `${Math.floor(ms / SECOND)} s` : duration(Math.floor(ms / SECOND) * SECOND);
}

/** How long ago something was, or the local date and time where that was more than a day ago. */
export function ago(at: Moment, now: number): string {
  const passed = now - toMs(at);
  return passed < DAY ? `${roughly(passed)} ago` : localTime(at);
}

/** How long something has been so. */
export function forHowLong(since: Moment, now: number): string {
  return `for ${roughly(now - toMs(since))}`;
}

/** A moment as local date and time: `2026-11-30 10:19:22`. */
export function localTime(at: Moment): string {
  // Sweden writes dates as ISO 8601 does.
  return new Date(at).toLocaleString('sv-SE');
}
