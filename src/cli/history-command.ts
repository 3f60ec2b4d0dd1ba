import type { Command } from 'commander';
import { type HistoryShape, historyShape } from './api-shapes.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { type ListOptions, withListOptions } from './list-options.ts';
import type { Screen } from './live-view.ts';
import { itemsText } from './map-text.ts';
import { runPath, withQuery } from './millrace-api.ts';
import { oneLine } from './one-line.ts';
import { printPage } from './printed-answers.ts';
import { stateCell } from './state-style.ts';
import { tableLines } from './table.ts';
import { localTime } from './time-text.ts';

const DEFAULT_LIMIT = 100;

/** Adds `millrace history`. */
export function addHistoryCommand(program: Command, context: CliContext): void {
  withListOptions(addCommand(program, 'history <run>'), DEFAULT_LIMIT)
    .summary('show what happened in a run, in order')
    .description('Shows what happened in a run, in order, with the revision number of the run that each change made.')
    .addHelpText(
      'after',
      `
Example:
  millrace history 4nwee6vv6paa4bafu3kgiuidb3 --limit 1000`,
    )
    .action(async (runId: string, options: ListOptions) => {
      await history(runId, options, context);
      context.exit(EXIT.ok);
    });
}

function history(runId: string, options: ListOptions, context: CliContext): Promise<void> {
  const { limit, cursor } = options;
  const path = withQuery(`${runPath(runId)}/history`, { limit, cursor });
  return printPage({ path, shape: historyShape, lines: historyLines }, options, context);
}

/** The history as a table; times count from its first entry. */
export function historyLines(entries: readonly HistoryShape[], { style, columns }: Screen): string[] {
  const [first] = entries;
  if (first === undefined) return ['Nothing has happened yet.'];
  return [
    `From ${localTime(first.at)}:`,
    ...tableLines(
      [
        { title: 'after', align: 'right' },
        { title: 'rev', align: 'right' },
        { title: 'node' },
        { title: 'state' },
        { title: 'reason' },
        { title: 'attempt', align: 'right' },
        { title: '' },
      ],
      entries.map(({ at, rev, node, state, reason, attempt, items, branch, error, by, note, reusedFrom }) => [
        `${((at - first.at) / 1000).toFixed(3)} s`,
        String(rev),
        node === undefined ? { text: '(the run)', paint: style.dim } : oneLine(node),
        stateCell(state, style),
        reason,
        attempt === undefined ? '' : String(attempt),
        oneLine(
          [
            items && itemsText(items),
            branch && `chose ${branch.chosen.join(', ') || 'none'}`,
            error && `${error.name}: ${error.message}`,
            by && `by ${by}`,
            note && `“${note}”`,
            reusedFrom && `reused from ${reusedFrom}`,
          ]
            .filter(Boolean)
            .join(', '),
        ),
      ]),
      { style, maxWidth: columns },
    ),
  ];
}
