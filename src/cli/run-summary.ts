import type { Run, RunNode } from '#client/index.ts';
import { chaosLine, costLines } from './cost-lines.ts';
import { counted, countsText } from './counts-text.ts';
import { hopFigures, hopsOf } from './hops.ts';
import type { Screen } from './live-view.ts';
import { nodeTable } from './node-table.ts';
import { cutText, oneLine } from './one-line.ts';
import type { Style } from './output.ts';
import type { RunCounters, Upstreams } from './run-counters.ts';
import { paintState } from './state-style.ts';
import { duration, toMs } from './time-text.ts';

/** Longer outputs are cut; `--json` prints them whole. */
const LONGEST_OUTPUT = 4000;

/** All that is said of a run once it is over. */
export function summaryLines(
  run: Run,
  nodes: readonly RunNode[],
  upstreams: Upstreams,
  { screen, counters }: { readonly screen: Screen; readonly counters: RunCounters | undefined },
): string[] {
  const { style } = screen;
  const hops = hopsOf(nodes, upstreams);
  const figures = hopFigures(hops);
  return [
    '',
    ...nodeTable(nodes, screen, new Map(hops.map(({ node, milliseconds }) => [node, milliseconds]))),
    '',
    `  ${counted(nodes.length, 'node')}: ${countsText(run.counts)}`,
    ...(figures === undefined
      ? []
      : [
          `  ${counted(figures.count, 'hop')} (end of the last upstream to the start of the node): median ${duration(figures.medianMs)}, longest ${duration(figures.longestMs)}`,
        ]),
    ...(counters === undefined ? [] : ['', ...costLines(counters, nodes.length, style)]),
    ...(counters?.chaos === undefined ? [] : [`  ${chaosLine(counters.chaos)}`]),
    ...outputLines(run, style),
    '',
    verdictLine(run, style),
  ];
}

function outputLines({ output }: Run, style: Screen['style']): string[] {
  if (output === undefined) return [];
  const text = JSON.stringify(output, null, 2);
  const cut = cutText(text, LONGEST_OUTPUT);
  const more = cut === text ? [] : [style.dim(`${text.length} characters in all; --json prints them`)];
  return ['', style.bold('Output'), cut, ...more];
}

/** The end of a run in one line. */
export function verdictLine(run: Run, style: Screen['style']): string {
  const took = duration(toMs(run.endedAt ?? run.since) - toMs(run.createdAt));
  return `${paintState(run.state, style)(run.state)} after ${took}: ${oneLine(run.message)}  ${style.dim(`run ${run.id}`)}`;
}

/** That a run was started which nobody waits for. */
export function startedText(run: Run, style: Style): string {
  return `Run ${style.bold(run.id)} of ${run.pipeline} was started; \`millrace status ${run.id}\` shows how it goes.`;
}
