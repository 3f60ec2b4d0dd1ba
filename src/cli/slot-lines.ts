import type { Engine } from '#client/index.ts';
import { counted, number } from './counts-text.ts';
import type { Screen } from './live-view.ts';
import { oneLine } from './one-line.ts';
import { tableLines } from './table.ts';
import { forHowLong } from './time-text.ts';

/** Holders that are shown. */
const SHOWN_HOLDERS = 50;

/** Who holds slots and who waits for them, in two tables. */
export function slotLines(
  { holders = [], waiting }: Pick<Engine, 'holders' | 'waiting'>,
  { style, columns, now }: Screen,
): string[] {
  const held = tableLines(
    [{ title: 'held by run' }, { title: 'pipeline' }, { title: 'slots', align: 'right' }, { title: 'nodes' }],
    holders
      .slice(0, SHOWN_HOLDERS)
      .map(({ run, pipeline, slots, nodes = [] }) => [run, pipeline, number(slots), oneLine(nodes.join(', '))]),
    { style, maxWidth: columns },
  );
  const left = holders.length - SHOWN_HOLDERS;
  const queue = tableLines(
    [{ title: 'waiting run' }, { title: 'pipeline' }, { title: 'priority', align: 'right' }, { title: '' }],
    (waiting?.first ?? []).map(({ run, pipeline, priority, since }) => [
      run,
      pipeline,
      String(priority),
      forHowLong(since, now),
    ]),
    { style, maxWidth: columns },
  );
  return [
    ...(holders.length > 0 ? ['', ...held] : []),
    ...(left > 0 ? [`  and ${counted(left, 'more run')}`] : []),
    ...(waiting && waiting.count > 0
      ? [
          '',
          `  ${counted(waiting.count, 'run')}${waiting.hasMore ? ' and more' : ''} ${waiting.count === 1 && !waiting.hasMore ? 'waits' : 'wait'} for a slot:`,
          ...queue,
        ]
      : []),
  ];
}
