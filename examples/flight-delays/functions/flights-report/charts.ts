import type { TopLevelSpec } from 'vega-lite';
import { palette } from './draw.ts';

const percent = '.0%';

/** One colour scale for all charts, so that a colour means the same share everywhere. */
const lateColor = {
  field: 'lateShare',
  type: 'quantitative',
  scale: { scheme: 'oranges', domain: [0, 0.4], clamp: true },
  legend: {
    title: 'Late arrivals',
    format: percent,
    orient: 'top',
    direction: 'horizontal',
    gradientLength: 220,
    values: [0, 0.1, 0.2, 0.3, 0.4],
    labelExpr: "datum.value < 0.4 ? datum.label : datum.label + '+'",
  },
} as const;

const width = 940;

/** Late flights and all flights of one hour of the day. */
export interface HourRow {
  readonly hour: number;
  readonly lateShare: number;
  readonly flights: number;
}

/** Bars: the share of late flights by hour of departure. */
export function hourChart(rows: readonly HourRow[]): TopLevelSpec {
  const x = {
    field: 'label',
    type: 'ordinal',
    sort: null,
    axis: { title: 'Hour of departure', labelAngle: 0 },
  } as const;
  return {
    width,
    height: 260,
    data: { values: rows.map((row) => ({ ...row, label: hourLabel(row.hour) })) },
    layer: [
      {
        mark: { type: 'bar', color: palette.late, cornerRadiusEnd: 2, width: { band: 0.72 } },
        encoding: {
          x,
          y: {
            field: 'lateShare',
            type: 'quantitative',
            axis: { title: 'Late arrivals', format: percent, tickCount: 5, domain: false, ticks: false },
          },
        },
      },
      {
        mark: { type: 'text', baseline: 'bottom', dy: -4, fontSize: 11.5, color: palette.ink },
        encoding: {
          x,
          y: { field: 'lateShare', type: 'quantitative' },
          text: { field: 'lateShare', format: percent },
        },
      },
    ],
  };
}

/** Late share of one hour of one weekday (0 = Monday). */
export interface WeekRow extends HourRow {
  readonly weekday: string;
}

/** Heat map: the share of late flights by weekday and hour. */
export function weekChart(rows: readonly WeekRow[], weekdays: readonly string[]): TopLevelSpec {
  return {
    width: width - 40,
    height: 210,
    data: { values: rows.map((row) => ({ ...row, label: hourLabel(row.hour) })) },
    mark: { type: 'rect', stroke: 'white', strokeWidth: 2, cornerRadius: 3 },
    encoding: {
      x: {
        field: 'label',
        type: 'ordinal',
        axis: { title: 'Hour of departure', labelAngle: 0, domain: false, ticks: false },
      },
      y: { field: 'weekday', type: 'ordinal', sort: [...weekdays], axis: { title: null, domain: false, ticks: false } },
      color: lateColor,
    },
  };
}

/** Late share of one day (`YYYY-MM-DD`). */
export interface DayRow {
  readonly day: string;
  readonly lateShare: number;
}

/** A day that is pointed at, with its label above or below its point. */
export interface MarkedDay extends DayRow {
  readonly label: string;
  readonly above: boolean;
}

/** Line: the share of late flights day by day, with its mean over a week. */
export function dayChart(rows: readonly DayRow[], marked: readonly MarkedDay[]): TopLevelSpec {
  const x = {
    field: 'day',
    type: 'temporal',
    scale: { type: 'utc' },
    axis: { title: null, format: '%b %-d', grid: false, tickCount: { interval: 'week', step: 2 } },
  } as const;
  const share = { title: 'Late arrivals', format: percent, tickCount: 5, domain: false, ticks: false } as const;
  return {
    width,
    height: 260,
    layer: [
      {
        data: { values: [...rows] },
        transform: [{ window: [{ op: 'mean', field: 'lateShare', as: 'week' }], frame: [-3, 3] }],
        layer: [
          {
            mark: { type: 'line', color: palette.lateSoft, strokeWidth: 1.3 },
            encoding: { x, y: { field: 'lateShare', type: 'quantitative', axis: share } },
          },
          {
            mark: { type: 'line', color: palette.late, strokeWidth: 3, interpolate: 'monotone' },
            encoding: { x, y: { field: 'week', type: 'quantitative', axis: share } },
          },
        ],
      },
      {
        data: { values: [...marked] },
        layer: [
          {
            mark: { type: 'point', filled: true, size: 55, color: palette.ink, opacity: 1 },
            encoding: { x, y: { field: 'lateShare', type: 'quantitative', axis: share } },
          },
          ...[true, false].map((above) => ({
            transform: [{ filter: { field: 'above', equal: above } }],
            mark: { type: 'text' as const, dy: above ? -12 : 17, fontSize: 12, color: palette.ink },
            encoding: {
              x,
              y: { field: 'lateShare', type: 'quantitative' as const, axis: share },
              text: { field: 'label' },
            },
          })),
        ],
      },
    ],
  };
}

/** One route and how often it was flown. */
export interface RouteRow {
  readonly label: string;
  readonly flights: number;
  readonly lateShare: number;
  readonly note: string;
}

/** Bars: the busiest routes, coloured by their share of late flights. */
export function routeChart(rows: readonly RouteRow[]): TopLevelSpec {
  const y = {
    field: 'label',
    type: 'ordinal',
    sort: null,
    axis: { title: null, domain: false, ticks: false, labelLimit: 0, labelColor: palette.ink, labelFontSize: 13 },
  } as const;
  const x = {
    field: 'flights',
    type: 'quantitative',
    axis: { title: 'Flights', tickCount: 6, domain: false, ticks: false },
  } as const;
  return {
    // Names are measured without a font here, far too long: the room for them is given instead of reckoned.
    autosize: { type: 'none' },
    padding: { left: 300, right: 130, top: 58, bottom: 48 },
    width: width - 370,
    height: rows.length * 27,
    data: { values: [...rows] },
    layer: [
      {
        mark: { type: 'bar', cornerRadiusEnd: 2, height: { band: 0.72 } },
        encoding: {
          x,
          y,
          color: lateColor,
        },
      },
      {
        mark: { type: 'text', align: 'left', dx: 7, fontSize: 12, color: palette.muted },
        encoding: { x, y, text: { field: 'note' } },
      },
    ],
  };
}

/** One airport of departure on the map. */
export interface AirportRow {
  readonly iata: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly flights: number;
  readonly lateShare: number;
}

/** Map: airports of departure, as large as their number of flights, coloured by their share of late ones. */
export function airportMap(rows: readonly AirportRow[], states: unknown, labelled: ReadonlySet<string>): TopLevelSpec {
  const place = { longitude: { field: 'longitude' }, latitude: { field: 'latitude' } } as const;
  return {
    width,
    height: 540,
    projection: { type: 'albersUsa' },
    layer: [
      {
        data: { values: states as object, format: { type: 'topojson', feature: 'states' } },
        mark: { type: 'geoshape', fill: palette.land, stroke: 'white', strokeWidth: 1 },
      },
      {
        data: { values: [...rows] },
        mark: { type: 'circle', opacity: 0.9, stroke: 'white', strokeWidth: 0.8 },
        encoding: {
          ...place,
          size: {
            field: 'flights',
            type: 'quantitative',
            scale: { range: [14, 900] },
            legend: {
              title: 'Departures',
              orient: 'bottom-right',
              symbolFillColor: palette.muted,
              values: sampleSizes(rows),
            },
          },
          color: lateColor,
        },
      },
      {
        data: { values: rows.filter((row) => labelled.has(row.iata)) },
        mark: { type: 'text', fontSize: 11, fontWeight: 600, color: palette.ink, dy: -17 },
        encoding: { ...place, text: { field: 'iata' } },
      },
    ],
  };
}

/** Three round numbers of flights for the legend of the map, the largest near that of the largest airport. */
function sampleSizes(rows: readonly AirportRow[]): number[] {
  const unit = 10 ** Math.floor(Math.log10(Math.max(...rows.map(({ flights }) => flights))));
  return [unit / 10, unit / 2, unit];
}

/** An hour as the axis shows it: `06`. */
function hourLabel(hour: number): string {
  return String(hour).padStart(2, '0');
}
