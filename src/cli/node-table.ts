import type { RunNode } from '#client/index.ts';
import { number } from './counts-text.ts';
import type { Screen } from './live-view.ts';
import { mapText } from './map-text.ts';
import { oneLine } from './one-line.ts';
import { isBad, isIdle, isNodeEnded, stateCell } from './state-style.ts';
import { tableLines } from './table.ts';
import { duration, toMs } from './time-text.ts';

/** As many nodes as people read; of a wider run only the most telling ones are shown. */
const MOST_ROWS = 40;
/** Of each kind of telling node in a wide run. */
const TELLING_ROWS = 10;

/** The nodes of a run as a table: all of a small one; of a wide one those that are bad, under way, and took longest. */
export function nodeTable(
  nodes: readonly RunNode[],
  screen: Screen,
  hops: ReadonlyMap<string, number> = new Map(),
): string[] {
  const { style, columns, now } = screen;
  const shown = nodes.length <= MOST_ROWS ? nodes : telling(nodes, now);
  const lines = tableLines(
    [
      { title: 'node' },
      { title: 'state' },
      { title: 'attempts', align: 'right' },
      { title: 'took', align: 'right' },
      ...(hops.size > 0 ? [{ title: 'hop', align: 'right' } as const] : []),
      { title: '' },
    ],
    shown.map((node) => {
      const hop = hops.get(node.id);
      return [
        oneLine(node.id),
        stateCell(node.state, style),
        node.attempt > 0 ? number(node.attempt) : '',
        tookText(node, now),
        ...(hops.size > 0 ? [hop === undefined ? '' : duration(hop)] : []),
        noteOf(node),
      ];
    }),
    { style, maxWidth: columns },
  );
  const left = nodes.length - shown.length;
  return left === 0 ? lines : [...lines, style.dim(`  and ${number(left)} more; --json has them all`)];
}

function tookText(node: RunNode, now: number): string {
  const took = tookMs(node, now);
  return took === undefined ? '' : duration(took);
}

function tookMs({ startedAt, endedAt, state }: RunNode, now: number): number | undefined {
  if (startedAt === undefined) return undefined;
  if (endedAt !== undefined) return toMs(endedAt) - toMs(startedAt);
  return isNodeEnded(state) ? undefined : now - toMs(startedAt);
}

function noteOf({ state, reason, message, error, map }: RunNode): string {
  const progress = map && mapText(map);
  // The message of a map that is held up counts its items, and says what holds them up.
  if (state === 'RUNNING' && map && isIdle(reason)) return oneLine(message);
  if (state === 'SUCCEEDED' || (state === 'RUNNING' && map)) return progress ?? '';
  const text = oneLine(error === undefined || !isBad(state) ? message : `${error.name}: ${error.message}`);
  return progress === undefined ? text : `${progress}: ${text}`;
}

function telling(nodes: readonly RunNode[], now: number): readonly RunNode[] {
  const isFailure = ({ state }: RunNode) => isBad(state) && state !== 'UPSTREAM_FAILED';
  const isOpen = ({ state }: RunNode) => !isNodeEnded(state) && state !== 'PENDING';
  const slowest = nodes.toSorted((a, b) => (tookMs(b, now) ?? -1) - (tookMs(a, now) ?? -1));
  const chosen = new Set(
    [nodes.filter(isFailure), nodes.filter(isOpen), slowest].flatMap((some) => some.slice(0, TELLING_ROWS)),
  );
  return nodes.filter((node) => chosen.has(node));
}
