/** Draws what `last.json` holds: `node bench/peers/picture.ts`. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { type PeersRecord, peersRecord } from './record.ts';
import { shapes } from './shapes.ts';
import { perNodeMs } from './table.ts';

const recordFile = fileURLToPath(new URL('last.json', import.meta.url));
const pictureFile = fileURLToPath(new URL('../../docs/pictures/peers.svg', import.meta.url));

/** Colours on a light page, and what each becomes on a dark one. */
const colours = {
  page: ['#ffffff', '#0d1117'],
  ink: ['#1f2328', '#e6edf3'],
  muted: ['#59636e', '#9198a1'],
  line: ['#e3e7eb', '#2a313a'],
  others: ['#8b949e', '#6e7681'],
  ours: ['#c2410c', '#ff8a4c'],
} as const;
type Colour = keyof typeof colours;
const light = (name: Colour) => colours[name][0];

const OURS = 'millrace';
const FONT = 'system-ui, sans-serif';
const COLUMN_PX = 146;
const ROW_PX = 30;
/** The ends of the axis (ms per node); values have room for their figures to the right of their points. */
const AXIS_FROM_MS = 0.3;
const AXIS_TO_MS = 8_000;
const TICKS_MS = [1, 10, 100, 1_000];

/** Writes what a run over all peers gave, and its picture. */
export async function saveRecord(record: PeersRecord): Promise<void> {
  await writeFile(recordFile, `${JSON.stringify(record, undefined, 2)}\n`);
  await mkdir(dirname(pictureFile), { recursive: true });
  await writeFile(pictureFile, await drawPeers(record));
}

/** Draws a record as an SVG document that reads on light and on dark pages. */
export async function drawPeers(record: PeersRecord): Promise<string> {
  const view = new View(parse(compile(specOf(record)).spec), { renderer: 'none' });
  const svg = await view.toSVG();
  view.finalize();
  const swaps = Object.values(colours).map(
    ([from, to]) => `[fill="${from}"]{fill:${to}}[stroke="${from}"]{stroke:${to}}`,
  );
  const style = `<style>@media (prefers-color-scheme:dark){${swaps.join('')}}</style>`;
  const label = 'Milliseconds per node that does nothing, of Millrace and its peers, on a logarithmic scale';
  return `${svg.replace(/^<svg[^>]*>/, (tag) => `${tag.slice(0, -1)} role="img" aria-label="${label}">${style}`)}\n`;
}

function specOf(record: PeersRecord): TopLevelSpec {
  const measured = record.peers.filter((peer) => 'shapes' in peer);
  const fastestFirst = measured.toSorted((one, other) => perNodeMs(one, 'chain-50') - perNodeMs(other, 'chain-50'));
  const values = measured.flatMap((peer) =>
    shapes.map(({ name }) => {
      const ms = perNodeMs(peer, name);
      return { peer: peer.title, isOurs: peer.name === OURS, shape: name, ms, shown: shownMs(ms) };
    }),
  );
  const colour = { condition: { test: 'datum.isOurs', value: light('ours') }, value: light('others') };
  const ink = { condition: { test: 'datum.isOurs', value: light('ours') }, value: light('ink') };
  return {
    background: light('page'),
    padding: 14,
    title: {
      text: 'Milliseconds per node that does nothing (logarithmic; less is better)',
      // In lines, since the width of the picture follows a rough guess at that of its text.
      subtitle: [
        `${record.machine.replace(/, \w+ \w+, Node.*$/, '')}; ${record.date.slice(0, 10)}; medians`,
        'chain-50: 50 in a line · fan-200: 1 → 200 → 1 · burst: 20 × 10 in a line',
      ],
    },
    data: { values },
    facet: { column: { field: 'shape', sort: shapes.map(({ name }) => name), title: null } },
    spec: {
      width: COLUMN_PX,
      height: { step: ROW_PX },
      encoding: {
        y: { field: 'peer', type: 'nominal', sort: fastestFirst.map(({ title }) => title), title: null },
        x: {
          field: 'ms',
          type: 'quantitative',
          title: null,
          scale: { type: 'log', domain: [AXIS_FROM_MS, AXIS_TO_MS] },
          axis: { values: TICKS_MS },
        },
      },
      layer: [
        { mark: { type: 'rule' }, encoding: { x2: { datum: AXIS_FROM_MS }, color: colour } },
        { mark: { type: 'point', filled: true, size: 90, opacity: 1 }, encoding: { color: colour } },
        {
          mark: { type: 'text', align: 'left', dx: 8, fontSize: 12 },
          encoding: { text: { field: 'shown' }, color: ink },
        },
      ],
    },
    config: configOf(),
  };
}

function configOf(): NonNullable<TopLevelSpec['config']> {
  return {
    font: FONT,
    aria: false,
    view: { stroke: null },
    axis: {
      labelColor: light('ink'),
      labelFontSize: 12,
      labelLimit: 320,
      gridColor: light('line'),
      domain: false,
      ticks: false,
      labelPadding: 8,
    },
    axisX: { labelColor: light('muted'), format: '~s', labelOverlap: false },
    axisY: { grid: false },
    header: { labelColor: light('ink'), labelFontSize: 12, labelFontWeight: 'bold' },
    title: {
      anchor: 'start',
      color: light('ink'),
      fontSize: 14,
      subtitleColor: light('muted'),
      subtitleFontSize: 11,
      offset: 14,
    },
    facet: { spacing: 10 },
  };
}

function shownMs(ms: number): string {
  if (ms < 10) return ms.toFixed(1);
  return Math.round(ms).toLocaleString('en');
}

if (import.meta.main) {
  const record = peersRecord.parse(JSON.parse(await readFile(recordFile, 'utf8')));
  await saveRecord(record);
}
