import type { Command } from 'commander';
import type { HistoryEntry } from '#client/index.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { type ListOptions, withListOptions } from './list-options.ts';
import type { Screen } from './live-view.ts';
import { itemsText } from './map-text.ts';
import { oneLine } from './one-line.ts';
import { pageLines, printAnswer } from './printed-answers.ts';
import { stateCell } from './state-style.ts';
import { tableLines } from './table.ts';
import { localTime, toMs } from './time-text.ts';

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
      const { limit, cursor } = options;
      const call = ['getHistory', { path: { runId }, query: { limit, cursor } }] as const;
      await printAnswer(context, options, call, pageLines(historyLines));
      context.exit(EXIT.ok);
    });
}

/** The history as a table; times count from its first entry. */
export function historyLines(entries: readonly HistoryEntry[], { style, columns }: Screen): string[] {
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
        `${((toMs(at) - toMs(first.at)) / 1000).toFixed(3)} s`,
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
