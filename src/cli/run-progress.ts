import type { HistoryEntry, MapProgress, Run } from '#client/index.ts';
import type { CliContext } from './context.ts';
import { liveView, progressLine, type Screen, waitLines } from './live-view.ts';
import { oneLine } from './one-line.ts';
import type { LiveArea } from './output.ts';
import { mapLines, progressLines } from './plain-progress.ts';
import { applyHistory, applyMaps, type RunPicture } from './run-picture.ts';
import { isIdle } from './state-style.ts';

/** Runs with more nodes are followed by their counts alone: node by node would be a wall of lines, or dear to read. */
const WIDE = { lines: 60, live: 200 };
/** Time between two lines about a wide run, or about a map, where there is no terminal, in milliseconds. */
const LINE_EVERY_MS = 2000;
/** How long a run has waited as a whole before that is worth a line: slots pass from one to the next all the time. */
const IDLE_MS = 1000;

/** Shows how a run goes on. */
export interface RunProgress {
  /** Whether it wants the history. */
  readonly history: boolean;
  look(run: Run, entries: readonly HistoryEntry[], maps: ReadonlyMap<string, MapProgress>): void;
  /** Takes what is not to stay off the screen. */
  end(): void;
}

/** The screen that a command writes to, as it is now. */
export function screenOf({ output, now }: CliContext): Screen {
  return { style: output.style, columns: output.columns(), rows: output.rows(), now: now() };
}

/** How often a look is shown again (ms), since times go on: smoothly on a terminal. */
const SHOW_AGAIN_MS = { live: 150, lines: 500 };

/** Shows progress on a terminal by drawing it anew, else line by line. */
export function createProgress(picture: RunPicture, context: CliContext): RunProgress {
  const { live } = context.output;
  const isWide = picture.size > (live === undefined ? WIDE.lines : WIDE.live);
  const show = live === undefined ? lineWriter(picture, context, isWide) : liveDrawer(live, picture, context, isWide);
  let again: NodeJS.Timeout | undefined;
  return {
    history: !isWide,
    look(run, entries, maps) {
      applyHistory(picture, entries);
      applyMaps(picture, maps);
      show(run, entries, maps);
      clearInterval(again);
      again = setInterval(
        () => show(run, [], maps),
        live === undefined ? SHOW_AGAIN_MS.lines : SHOW_AGAIN_MS.live,
      ).unref();
    },
    end() {
      clearInterval(again);
      live?.clear();
    },
  };
}

function liveDrawer(live: LiveArea, picture: RunPicture, context: CliContext, isWide: boolean): RunProgress['look'] {
  return (run) => {
    const screen = screenOf(context);
    live.draw(
      isWide ? [...waitLines(run, screen), progressLine(run, screen)].join('\n') : liveView(run, picture, screen),
    );
  };
}

function lineWriter(picture: RunPicture, context: CliContext, isWide: boolean): RunProgress['look'] {
  const write = isWide ? writeCounts(context) : writeNodes(picture, context);
  const writeWait = waitWriter(context);
  return (run, entries, maps) => {
    write(run, entries, maps);
    writeWait(run);
  };
}

/** Writes what a run waits for that has waited as a whole for a while, once as long as that stays the same. */
function waitWriter({ output, now }: CliContext): (run: Run) => void {
  let idleSince: number | undefined;
  let written: string | undefined;
  return ({ reason, message }) => {
    if (!isIdle(reason)) {
      idleSince = undefined;
      return;
    }
    idleSince ??= now();
    if (now() - idleSince < IDLE_MS || message === written) return;
    output.line(output.style.yellow(`  ${oneLine(message)}`));
    written = message;
  };
}

/** Writes how a wide run stands, now and then. */
function writeCounts(context: CliContext): RunProgress['look'] {
  let lastAt = 0;
  return (run) => {
    const screen = screenOf(context);
    if (screen.now - lastAt < LINE_EVERY_MS) return;
    lastAt = screen.now;
    context.output.line(progressLine(run, screen));
  };
}

/** Writes what happened to nodes, and now and then how far maps are. */
function writeNodes(picture: RunPicture, { output, now }: CliContext): RunProgress['look'] {
  const { style } = output;
  let lastAt = 0;
  return (run, entries, maps) => {
    for (const line of progressLines(entries, picture, { begun: run.createdAt, style })) output.line(line);
    if (maps.size === 0 || now() - lastAt < LINE_EVERY_MS) return;
    lastAt = now();
    for (const line of mapLines(maps, picture, { begun: run.createdAt, style, at: now() })) output.line(line);
  };
}
