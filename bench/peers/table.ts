/** What a run over all peers gave, as Markdown. */
import { median } from '../bench.ts';
import type { KillResult, MeasuredPeer, PeersRecord } from './record.ts';
import { shapes } from './shapes.ts';

/** Three tables: how fast, what a `kill -9` does, and what was set how. */
export function toTables(record: PeersRecord): string {
  const measured = record.peers.filter((peer) => 'shapes' in peer);
  const skipped = record.peers.filter((peer) => 'skipped' in peer);
  return [
    `${record.machine}; ${record.date.slice(0, 10)}; ${record.tookSeconds} s in all`,
    speeds(measured),
    killings(measured),
    settings(measured),
    ...skipped.map(({ title, skipped }) => `${title}: skipped, ${skipped}`),
  ].join('\n\n');
}

function speeds(measured: readonly MeasuredPeer[]): string {
  const head = [
    'medians (least to most)',
    ...shapes.map(({ name, runs }) => (runs === 1 ? `${name}, ms` : `${name}, nodes/s`)),
    'ms per node of chain-50',
    'idle: % of a core',
    'idle: MiB (PSS)',
    'load before',
  ];
  const rows = measured.map((peer) => [
    peer.title,
    ...shapes.map(({ name, runs }) => speedOf(peer, name, runs > 1)),
    perNodeMs(peer, 'chain-50').toFixed(2),
    peer.idle?.corePercent.toFixed(1) ?? '',
    peer.idle?.mebibytes.toFixed(0) ?? '',
    peer.load.toFixed(1),
  ]);
  return markdown(head, rows);
}

/** The median time of a shape, in ms per node. */
export function perNodeMs(peer: MeasuredPeer, shape: string): number {
  const { ms = [], nodes = Number.NaN } = peer.shapes.find((each) => each.shape === shape) ?? {};
  return median(ms) / nodes;
}

function speedOf(peer: MeasuredPeer, shape: string, asRate: boolean): string {
  const { ms = [], nodes = Number.NaN } = peer.shapes.find((each) => each.shape === shape) ?? {};
  const shown = (value: number) => (asRate ? figure((nodes * 1000) / value) : figure(value));
  const ends = [Math.min(...ms), Math.max(...ms)];
  const [least = Number.NaN, most = Number.NaN] = asRate ? ends.toReversed() : ends;
  return ms.length > 1 ? `${shown(median(ms))} (${shown(least)} to ${shown(most)})` : `${shown(median(ms))} (once)`;
}

function figure(value: number): string {
  return value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en');
}

function killings(measured: readonly MeasuredPeer[]): string {
  const head = [
    '`kill -9` in the middle of node 21 of chain-50',
    'killed',
    'ends by itself',
    'goes on after',
    'the last node ends after',
    'completed nodes run again',
    'the node in flight started',
    'and ended',
  ];
  const rows = measured.flatMap((peer) => peer.kills.map((kill) => [peer.title, ...cellsOf(kill)]));
  return markdown(head, rows);
}

function cellsOf(kill: KillResult): string[] {
  const { what, endsAfterMs, goesOnAfterMs, patienceMs, ranAgain, inFlightStarts, inFlightEnds } = kill;
  const seconds = (ms: number | undefined) => (ms === undefined ? '–' : `${(ms / 1000).toFixed(1)} s`);
  const ends = endsAfterMs === undefined ? `not within ${patienceMs / 1000} s` : 'yes';
  const counts = [ranAgain, inFlightStarts, inFlightEnds].map(String);
  return [what, ends, seconds(goesOnAfterMs), seconds(endsAfterMs), ...counts];
}

function settings(measured: readonly MeasuredPeer[]): string {
  const rows = measured.map(({ title, nodeIs, versions, settings }) => [title, nodeIs, versions, settings]);
  return markdown(['peer', 'a node is', 'versions', 'settings'], rows);
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
