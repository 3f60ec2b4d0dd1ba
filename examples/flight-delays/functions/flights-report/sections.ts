import { LATE_MINUTES, sumTotals, type Totals } from '../flights/records.ts';
import { airportMap, dayChart, hourChart, routeChart, weekChart } from './charts.ts';
import { draw } from './draw.ts';
import { count, dayName, monthName, section, share, table } from './html.ts';
import type { ReportInput } from './input.ts';
import { airportRows, dayRows, hourRows, lateShare, most, WEEKDAYS, weekRows } from './rows.ts';

const SHOWN_ROUTES = 15;
const LISTED_AIRPORTS = 25;
const LABELLED_AIRPORTS = 14;

function hours(from: number): string {
  return `${String(from).padStart(2, '0')}:00`;
}

/** Delay by hour of the day. */
export async function hourSection({ groups }: ReportInput): Promise<string> {
  const rows = hourRows(groups.hour);
  const worst = most(rows, (row) => row.lateShare);
  const best = most(rows, (row) => -row.lateShare);
  return section({
    finding: `Delays build up through the day: ${share(best.lateShare)} late at ${hours(best.hour)}, ${share(worst.lateShare)} at ${hours(worst.hour)}`,
    lead: `Share of flights that arrived ${LATE_MINUTES} minutes or more after schedule, by the local hour in which they really left. A flight that leaves late at night often does so because it is late already. Hours with very few departures are left out.`,
    chart: await draw(hourChart(rows), 'Bar chart: share of late arrivals by hour of departure'),
    numbers: table(
      'Flights and late arrivals by hour of departure',
      ['Hour', 'Flights', 'Late'],
      rows.map((row) => [hours(row.hour), count(row.flights), share(row.lateShare)]),
    ),
  });
}

/** Delay by weekday and hour. */
export async function weekSection({ groups }: ReportInput): Promise<string> {
  const rows = weekRows(groups.hour, hourRows(groups.hour));
  const byDay = WEEKDAYS.map((weekday, index) => ({
    weekday,
    ...sumTotals(groups.hour.filter(({ key }) => key.startsWith(`${index} `))),
  })).filter(({ flights }) => flights > 0);
  const worst = most(byDay, lateShare);
  const best = most(byDay, (day) => -lateShare(day));
  return section({
    finding: `${worst.weekday} is the worst day to fly, ${best.weekday} the best`,
    lead: 'The same share by day of the week and hour of departure. Cells with too few flights to say anything are left empty.',
    chart: await draw(
      weekChart(rows, WEEKDAYS),
      'Heat map: share of late arrivals by day of the week and hour of departure',
    ),
    numbers: table(
      'Flights and late arrivals by day of the week',
      ['Day', 'Flights', 'Late', 'Average delay, min'],
      byDay.map((day) => [day.weekday, count(day.flights), share(lateShare(day)), averageDelay(day)]),
    ),
  });
}

/** Delay day by day and by month. */
export async function daySection({ groups, figures }: ReportInput): Promise<string> {
  const rows = dayRows(groups.day);
  const worst = most(rows, (row) => row.lateShare);
  const best = most(rows, (row) => -row.lateShare);
  const marked = [
    { ...worst, label: `${dayName(worst.day)}: ${share(worst.lateShare)}`, above: true },
    { ...best, label: `${dayName(best.day)}: ${share(best.lateShare)}`, above: false },
  ];
  const worstMonth = most(figures.months, lateShare);
  return section({
    finding: `Late flights peaked in ${monthName(worstMonth.month)}; the worst day was ${dayName(worst.day)}`,
    lead: 'Share of late arrivals day by day (thin line) and its mean over seven days (thick line).',
    chart: await draw(
      dayChart(rows, marked),
      'Line chart: share of late arrivals by day, with its mean over seven days',
    ),
    numbers: table(
      'Flights and late arrivals by month',
      ['Month', 'Flights', 'Late', 'Average delay, min'],
      figures.months.map((month) => [
        monthName(month.month),
        count(month.flights),
        share(lateShare(month)),
        averageDelay(month),
      ]),
    ),
  });
}

/** The busiest routes. */
export async function routeSection({ groups, airports }: ReportInput): Promise<string> {
  const city = (iata: string) => airports.get(iata)?.city ?? iata;
  const rows = groups.route.slice(0, SHOWN_ROUTES).map((group) => {
    const [from = '', to = ''] = group.key.split(' ');
    return { ...group, label: `${city(from)} (${from}) → ${city(to)} (${to})`, lateShare: lateShare(group) };
  });
  const [first] = rows;
  return section({
    finding: `The busiest route is ${first?.label ?? 'none'}`,
    lead: `The ${rows.length} busiest of ${count(groups.route.length)} routes, each direction by itself. Darker means more late arrivals.`,
    chart: await draw(
      routeChart(rows.map((row) => ({ ...row, note: `${count(row.flights)} · ${share(row.lateShare)} late` }))),
      'Bar chart: flights on the busiest routes, coloured by the share of late arrivals',
    ),
    numbers: table(
      'The busiest routes',
      ['Route', 'Flights', 'Late', 'Average delay, min'],
      rows.map((row) => [row.label, count(row.flights), share(row.lateShare), averageDelay(row)]),
    ),
  });
}

/** The airports of departure. */
export async function airportSection({ groups, airports, states }: ReportInput): Promise<string> {
  const rows = airportRows(groups.airport, airports);
  const largest = rows.slice(0, LISTED_AIRPORTS);
  const worst = most(largest, (row) => row.lateShare);
  const labelled = new Set(rows.slice(0, LABELLED_AIRPORTS).map((row) => row.iata));
  return section({
    finding: `Of the ${largest.length} largest airports, flights from ${airports.get(worst.iata)?.city ?? worst.iata} (${worst.iata}) arrive late most often`,
    lead: `Airports of departure: the larger the circle, the more flights; the darker, the more of them arrived late. ${rows.length} of ${groups.airport.length} airports are shown; those with very few flights, and those outside the states, are left out.`,
    chart: await draw(
      airportMap(rows, states, labelled),
      'Map: airports of departure by number of flights and share of late arrivals',
    ),
    numbers: table(
      `The ${largest.length} largest airports of departure`,
      ['Airport', 'Departures', 'Late'],
      largest.map((row) => [
        `${airports.get(row.iata)?.name ?? ''} (${row.iata})`,
        count(row.flights),
        share(row.lateShare),
      ]),
    ),
  });
}

function averageDelay({ delaySum, flights }: Totals): string {
  return (delaySum / flights).toFixed(1);
}
