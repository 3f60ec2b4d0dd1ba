import type { Airport } from '../flights/airports.ts';
import type { Group } from '../flights/groups.ts';
import { sumTotals, type Totals } from '../flights/records.ts';
import type { AirportRow, DayRow, HourRow, WeekRow } from './charts.ts';

/** Names of the days of the week, Monday first. */
export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;

/** Hours with less than this share of all flights are left out: nearly all of them were due before midnight. */
const RARE_HOUR = 0.005;
/** Fewest flights of a cell of the heat map: below, its share says nothing. */
const CELL_FLIGHTS = 20;
/** Smallest share of all departures that puts an airport on the map. */
const RARE_AIRPORT = 0.0005;

/** Late flights as a share of all. */
export function lateShare({ late, flights }: Totals): number {
  return late / flights;
}

/** The hours of the day that many flights leave in, in order. */
export function hourRows(groups: readonly Group[]): HourRow[] {
  const all = sumTotals(groups).flights;
  const byHour = Map.groupBy(groups, ({ key }) => Number(key.split(' ')[1]));
  return [...byHour]
    .map(([hour, cells]) => ({ hour, totals: sumTotals(cells) }))
    .filter(({ totals }) => totals.flights >= RARE_HOUR * all)
    .sort((a, b) => a.hour - b.hour)
    .map(({ hour, totals }) => ({ hour, flights: totals.flights, lateShare: lateShare(totals) }));
}

/** The cells of the heat map, over the hours of {@link hourRows}. */
export function weekRows(groups: readonly Group[], hours: readonly HourRow[]): WeekRow[] {
  const shown = new Set(hours.map(({ hour }) => hour));
  return groups.flatMap((group) => {
    const [weekday, hour] = group.key.split(' ').map(Number);
    const name = WEEKDAYS[weekday ?? -1];
    if (!name || hour === undefined || !shown.has(hour) || group.flights < CELL_FLIGHTS) return [];
    return [{ weekday: name, hour, flights: group.flights, lateShare: lateShare(group) }];
  });
}

/** The days, in order. */
export function dayRows(groups: readonly Group[]): DayRow[] {
  return groups
    .map((group) => ({ day: group.key, lateShare: lateShare(group) }))
    .sort((a, b) => (a.day < b.day ? -1 : 1));
}

/** Territories, which the map of the states has no place for. */
const OFF_THE_MAP: ReadonlySet<string> = new Set(['AS', 'CQ', 'GU', 'PR', 'VI']);

/** Airports of departure in the states with more than a handful of flights, with their place. */
export function airportRows(groups: readonly Group[], airports: ReadonlyMap<string, Airport>): AirportRow[] {
  const all = sumTotals(groups).flights;
  return groups.flatMap((group) => {
    const airport = airports.get(group.key);
    if (!airport || OFF_THE_MAP.has(airport.state) || group.flights < RARE_AIRPORT * all) return [];
    const { iata, latitude, longitude } = airport;
    return [{ iata, latitude, longitude, flights: group.flights, lateShare: lateShare(group) }];
  });
}

/** The item with the largest value; the first of several. */
export function most<T>(items: readonly T[], value: (item: T) => number): T {
  const [first] = items;
  if (first === undefined) throw new RangeError('nothing to choose from');
  return items.reduce((best, item) => (value(item) > value(best) ? item : best), first);
}
