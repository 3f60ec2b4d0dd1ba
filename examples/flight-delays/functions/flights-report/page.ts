import { basename } from 'node:path';
import { LATE_MINUTES } from '../flights/records.ts';
import { count, monthName, share, text } from './html.ts';
import type { ReportInput } from './input.ts';
import { airportSection, daySection, hourSection, routeSection, weekSection } from './sections.ts';
import { style } from './style.ts';

/** The whole report as one HTML page without scripts, fonts or images from anywhere else. */
export async function renderReport(input: ReportInput): Promise<string> {
  const sections = [
    await hourSection(input),
    await weekSection(input),
    await daySection(input),
    await airportSection(input),
    await routeSection(input),
  ];
  const title = `U.S. flight delays, ${period(input)}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<header>
<h1>${text(title)}</h1>
<p>${text(lead(input))}</p>
</header>
${keyFigures(input)}
${sections.join('\n')}
${footer(input)}
</main>
</body>
</html>
`;
}

function period({ figures }: ReportInput): string {
  const names = figures.months.map(({ month }) => monthName(month));
  const [first = '', last = first] = [names.at(0), names.at(-1)];
  const sameYear = first.slice(-4) === last.slice(-4);
  return first === last ? first : `${sameYear ? first.slice(0, -5) : first} to ${last}`;
}

function lead({ figures, groups }: ReportInput): string {
  return `When, where and how often ${count(figures.flights)} domestic flights between ${count(groups.airport.length)} airports arrived late. A flight is late if it arrives ${LATE_MINUTES} minutes or more after schedule.`;
}

function keyFigures({ figures, groups }: ReportInput): string {
  const cards = [
    ['Flights', count(figures.flights), `on ${count(groups.day.length)} days`],
    ['Arrived late', share(figures.lateShare), `${count(figures.late)} flights`, 'accent'],
    ['Average delay', `${figures.averageDelay.toFixed(1)} min`, 'early arrivals count below zero'],
    ['Routes flown', count(groups.route.length), `from ${count(groups.airport.length)} airports`],
    [
      'Miles flown',
      millions(figures.distanceSum),
      `${count(Math.round(figures.distanceSum / figures.flights))} a flight`,
    ],
  ] as const;
  return `<dl class="figures">${cards
    .map(
      ([name, value, more, kind]) =>
        `<div class="${kind ?? ''}"><dt>${text(name)}</dt><dd class="value">${text(value)}</dd><dd class="more">${text(more)}</dd></div>`,
    )
    .join('')}</dl>`;
}

function millions(value: number): string {
  return value.toLocaleString('en-US', { notation: 'compact', minimumFractionDigits: 1, maximumFractionDigits: 1 });
}

function footer({ figures, source, run }: ReportInput): string {
  return `<footer>
<h2>How this was made</h2>
<p>${count(figures.sourceRows)} rows were read from <code>${text(basename(source.file))}</code> (checksum <code>${text(source.checksum)}</code>, as published); ${count(figures.dropped)} were dropped as faulty and ${count(figures.outside)} lay outside the period. Before this page was written, ${count(figures.comparisons)} counts and sums were reckoned a second time from the source alone, and all agreed.</p>
<p>Data: U.S. Bureau of Transportation Statistics, On-Time Performance, a random sample taken by <code>vega-datasets</code>. Flights that were cancelled or have no arrival time are not in it. Charts: Vega-Lite. Made by the Millrace pipeline <code>flight-delays</code>, run <code>${text(run)}</code>.</p>
</footer>`;
}
