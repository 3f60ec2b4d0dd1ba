import { DEFINITION_LIMITS } from './definition.ts';
import { type ErrorList, nearMiss, quoted } from './definition-errors.ts';
import { memberOf } from './definition-json.ts';
import type { PathSegment } from './definition-path.ts';
import { isJsonObject, type Json } from './json.ts';
import { nextInstant } from './schedule.ts';
import { parseCron } from './schedule-cron.ts';
import { compileSchedule, entryId, parseRate } from './schedule-entry.ts';
import { isTimeZone } from './schedule-zone.ts';

const MINUTE_MS = 60_000;

/** Any instant does: whether a cron ever fires is the same from everywhere. */
const REFERENCE = Date.UTC(2026, 0, 1);

const { rateMinutes } = DEFINITION_LIMITS;
const RATE_ALLOWED = `a whole number and minutes, hours or days: 15 minutes; from ${rateMinutes.min} minute to ${rateMinutes.max / (24 * 60)} days`;

/** Checks the crons, rates, zones and ids of a schedule. Kinds of fields are left to the check of the shape. */
export function checkSchedule(schedule: Json | undefined, errors: ErrorList): void {
  if (!Array.isArray(schedule)) return;
  const firstAt = new Map<string, number>();
  for (const [position, entry] of schedule.slice(0, DEFINITION_LIMITS.scheduleEntries).entries()) {
    if (!isJsonObject(entry)) continue;
    checkId(entry, position, firstAt, errors);
    checkTiming(entry, ['schedule', position], errors);
  }
}

function checkId(entry: Json, position: number, firstAt: Map<string, number>, errors: ErrorList): void {
  const written = memberOf(entry, 'id');
  if (written !== undefined && typeof written !== 'string') return;
  const id = entryId(written, position);
  const first = firstAt.get(id);
  if (first === undefined) {
    firstAt.set(id, position);
    return;
  }
  const at = ['schedule', position, ...(written === undefined ? [] : ['id'])];
  const message = `schedule entry id ${quoted(id)} is there twice, first at schedule[${first}]; an entry without id has its position`;
  errors.add({ at, code: 'DUPLICATE_ENTRY_ID', message, value: id, allowed: 'an id of its own for each entry' });
}

function checkTiming(entry: Json, at: readonly PathSegment[], errors: ErrorList): void {
  const [cron, rate, timezone] = [memberOf(entry, 'cron'), memberOf(entry, 'rate'), memberOf(entry, 'timezone')];
  if ((cron === undefined) === (rate === undefined)) {
    const message = `a schedule entry has either cron or rate; this one has ${cron === undefined ? 'neither' : 'both'}`;
    errors.add({ at, code: 'INVALID_FIELD', message, value: entry, allowed: 'one of cron and rate' });
  }
  const isZone = checkZone(timezone, [...at, 'timezone'], errors);
  if (typeof rate === 'string') checkRate(rate, [...at, 'rate'], errors);
  if (typeof cron === 'string') checkCron(cron, isZone ? timezone : undefined, [...at, 'cron'], errors);
}

function checkZone(zone: Json | undefined, at: readonly PathSegment[], errors: ErrorList): zone is string {
  if (typeof zone !== 'string') return false;
  if (isTimeZone(zone)) return true;
  const suggestion = nearMiss(zone, Intl.supportedValuesOf('timeZone'));
  const hint = suggestion === undefined ? '' : `; did you mean ${quoted(suggestion)}?`;
  errors.add({
    at,
    code: 'INVALID_TIMEZONE',
    message: `${quoted(zone)} is no IANA time zone${hint}`,
    value: zone,
    allowed: 'a name of the IANA time zone database, such as Europe/Berlin or UTC',
    ...(suggestion === undefined ? {} : { suggestion }),
  });
  return false;
}

function checkRate(rate: string, at: readonly PathSegment[], errors: ErrorList): void {
  const minutes = (parseRate(rate) ?? 0) / MINUTE_MS;
  if (minutes >= rateMinutes.min && minutes <= rateMinutes.max) return;
  const message = `the rate ${quoted(rate)} cannot be used`;
  errors.add({ at, code: 'INVALID_RATE', message, value: rate, allowed: RATE_ALLOWED });
}

function checkCron(cron: string, timezone: string | undefined, at: readonly PathSegment[], errors: ErrorList): void {
  const parsed = parseCron(cron);
  if ('problem' in parsed) {
    const message = `the cron ${quoted(cron)} cannot be read: ${parsed.problem}`;
    errors.add({ at, code: 'INVALID_CRON', message, value: cron, allowed: parsed.allowed });
    return;
  }
  const [entry] = compileSchedule([{ cron, ...(timezone !== undefined && { timezone }) }]);
  if (entry === undefined || nextInstant(entry, REFERENCE, REFERENCE) !== undefined) return;
  const message = `the cron ${quoted(cron)} never fires: there is no such date or local time`;
  errors.add({ at, code: 'NEVER_FIRES', message, value: cron, allowed: 'dates and local times that exist' });
}
