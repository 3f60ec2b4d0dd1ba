import type { HistoryShape, RunShape } from './api-shapes.ts';
import type { CliContext } from './context.ts';
import { liveView, progressLine, type Screen } from './live-view.ts';
import { progressLines } from './plain-progress.ts';
import { applyHistory, type RunPicture } from './run-picture.ts';

/** Runs with more nodes are followed by their counts alone: node by node would be a wall of lines, or dear to read. */
const WIDE = { lines: 60, live: 200 };
/** Time between two lines about a wide run where there is no terminal, in milliseconds. */
const WIDE_LINE_EVERY_MS = 2000;

/** Shows how a run goes on. */
export interface RunProgress {
  /** Whether it wants the history. */
  readonly history: boolean;
  look(run: RunShape, entries: readonly HistoryShape[]): void;
  /** Takes what is not to stay off the screen. */
  end(): void;
}

/** The screen that a command writes to, as it is now. */
export function screenOf({ output, now }: CliContext): Screen {
  return { style: output.style, columns: output.columns(), rows: output.rows(), now: now() };
}

/** Shows progress on a terminal by drawing it anew, else line by line. */
export function createProgress(picture: RunPicture, context: CliContext): RunProgress {
  const { output } = context;
  const { live } = output;
  const isWide = picture.size > (live === undefined ? WIDE.lines : WIDE.live);
  let lastLineAt = 0;
  return {
    history: !isWide,
    look(run, entries) {
      applyHistory(picture, entries);
      const screen = screenOf(context);
      if (live !== undefined) {
        live.draw(isWide ? progressLine(run, screen) : liveView(run, picture, screen));
      } else if (!isWide) {
        for (const line of progressLines(entries, picture, { begun: run.createdAt, style: output.style }))
          output.line(line);
      } else if (screen.now - lastLineAt >= WIDE_LINE_EVERY_MS) {
        lastLineAt = screen.now;
        output.line(progressLine(run, screen));
      }
    },
    end: () => live?.clear(),
  };
}
