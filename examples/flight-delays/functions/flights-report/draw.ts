import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { text } from './html.ts';

/** Colours of the report: the charts and the page take them from here. */
export const palette = {
  ink: '#17212b',
  muted: '#556270',
  line: '#dfe4ea',
  land: '#e9edf1',
  late: '#c2410c',
  lateSoft: '#f3b58d',
  flights: '#1d5c87',
} as const;

const config = {
  background: 'transparent',
  aria: false,
  view: { stroke: null },
  axis: {
    labelColor: palette.muted,
    labelFontSize: 12,
    titleColor: palette.muted,
    titleFontSize: 12,
    titleFontWeight: 'normal',
    titlePadding: 10,
    gridColor: palette.line,
    domainColor: palette.line,
    tickColor: palette.line,
  },
  legend: {
    labelColor: palette.muted,
    labelFontSize: 12,
    titleColor: palette.muted,
    titleFontSize: 12,
    titleFontWeight: 'normal',
    gradientThickness: 10,
    symbolStrokeColor: palette.muted,
  },
} satisfies TopLevelSpec['config'];

/**
 * Draws a chart as an SVG element that scales with the page and takes its font from it.
 *
 * @param label what the chart shows, for those who do not see it; its numbers belong into a table beside it
 */
export async function draw(spec: TopLevelSpec, label: string): Promise<string> {
  const view = new View(parse(compile(spec, { config }).spec), { renderer: 'none' });
  const svg = await view.toSVG();
  view.finalize();
  return svg
    .replace(/^<svg([^>]*?) width="[^"]*" height="[^"]*"/, `<svg$1 role="img" aria-label="${text(label)}"`)
    .replaceAll(/ font-family="[^"]*"/g, '');
}
