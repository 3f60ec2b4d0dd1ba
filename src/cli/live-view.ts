import type { Run } from '#client/index.ts';
import { countsText, number } from './counts-text.ts';
import { nodeNote } from './node-note.ts';
import { oneLine } from './one-line.ts';
import type { Style } from './output.ts';
import type { NodePicture, RunPicture } from './run-picture.ts';
import { isBad, isIdle, isNodeEnded, paintState } from './state-style.ts';
import { cutTo, tableLines } from './table.ts';
import { duration, toMs } from './time-text.ts';

/** The screen that a view has to fit on. */
export interface Screen {
  readonly style: Style;
  readonly columns: number;
  readonly rows: number;
  readonly now: number;
}

const MARKS: ReadonlyMap<string, string> = new Map([
  ['SUCCEEDED', '✔'],
  ['SKIPPED', '↷'],
  ['RUNNING', '●'],
  ['RETRY_WAIT', '↻'],
  ['QUEUED', '◌'],
  ['PENDING', '·'],
]);
/** Lines around the nodes: the head of the table, what is left out, the bar, and one to spare for the cursor. */
const OTHER_LINES = 4;

/** The blanks of the line with the bar, and one to spare for the cursor. */
const NARROW_MARGIN = 8;

/** A bar needs as many. */
const LEAST_COLUMNS = 36;

/** A run as it stands, on one screen: its nodes in the order of the definition, or the most telling ones of many. */
export function liveView(run: Run, picture: RunPicture, screen: Screen): string {
  const { style, columns, rows, now } = screen;
  const wait = waitLines(run, screen);
  const room = Math.max(1, rows - OTHER_LINES - wait.length);
  const shown = mostTelling([...picture.values()], room);
  const lines = tableLines(
    [{ title: 'node' }, { title: 'state' }, { title: '' }],
    shown.map((node) => [
      oneLine(node.id),
      { text: `${MARKS.get(node.state) ?? '✖'} ${node.state}`, paint: paintState(node.state, style) },
      oneLine(nodeNote(node, picture, now)),
    ]),
    { style, maxWidth: columns - 1, fits: true },
  );
  const left = picture.size - shown.length;
  if (left > 0 && shown.length > 0) lines.push(style.dim(cutTo(`  and ${number(left)} more`, columns - 1)));
  return [...(shown.length > 0 ? lines : []), ...wait, progressLine(run, screen)].join('\n');
}

/** What a run waits for that waits as a whole, in one line. */
export function waitLines({ reason, message }: Run, { style, columns }: Screen): string[] {
  return isIdle(reason) ? [style.yellow(`  ${cutTo(oneLine(message), columns - 3)}`)] : [];
}

/** One line with a bar, the counts and the time since the start. */
export function progressLine(run: Run, { style, columns, now }: Screen): string {
  const total = Object.values(run.counts).reduce((sum, count) => sum + count, 0);
  const done = Object.entries(run.counts).reduce((sum, [state, count]) => sum + (isNodeEnded(state) ? count : 0), 0);
  const width = Math.min(24, Math.max(8, Math.floor(columns / 5)));
  const filled = total === 0 ? 0 : Math.floor((done / total) * width);
  const bar = `${style.green('━'.repeat(filled))}${style.dim('━'.repeat(width - filled))}`;
  const time = duration(now - toMs(run.startedAt ?? run.createdAt));
  const share = `${number(done)}/${number(total)}`;
  if (columns < LEAST_COLUMNS) return cutTo(`  ${share}  ${time}`, columns - 1);
  // Of what does not fit on a narrow screen the counts are what is missed least.
  const counts = cutTo(countsText(run.counts), columns - width - share.length - time.length - NARROW_MARGIN);
  return ['  '.concat(bar, ' ', share), counts, style.dim(time)].filter((part) => part !== '').join('  ');
}

/** What is under way, what went wrong, and what ended last, kept in the order of the definition. */
function mostTelling(nodes: readonly NodePicture[], room: number): readonly NodePicture[] {
  if (nodes.length <= room) return nodes;
  const chosen = new Set(
    nodes
      .toSorted((a, b) => rank(a) - rank(b) || (rank(a) === LAST_RANK ? a.since - b.since : b.since - a.since))
      .slice(0, room),
  );
  return nodes.filter((node) => chosen.has(node));
}

const LAST_RANK = 4;

function rank({ state }: NodePicture): number {
  if (state === 'RETRY_WAIT' || (isBad(state) && state !== 'UPSTREAM_FAILED')) return 0;
  if (state === 'RUNNING') return 1;
  if (state === 'QUEUED') return 2;
  return isNodeEnded(state) ? 3 : LAST_RANK;
}
