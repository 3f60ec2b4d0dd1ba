import { createLogUpdate } from 'log-update';
import pc from 'picocolors';

/** Colours of one stream; without effect where the stream has none. */
export type Style = ReturnType<typeof pc.createColors>;

/** The last lines of a terminal, drawn anew again and again. */
export interface LiveArea {
  /** Replaces what it shows. */
  draw(text: string): void;
  /** Takes it off the screen. */
  clear(): void;
}

/** Where a command writes to. */
export interface Output {
  /** Writes one line to standard output. @default an empty line */
  line(text?: string): void;
  /** Writes one line to standard error. */
  error(text: string): void;
  readonly style: Style;
  readonly errorStyle: Style;
  /** Present on a terminal that can move its cursor. */
  readonly live: LiveArea | undefined;
  /** Width of the terminal in columns; 120 where there is none. */
  columns(): number;
  /** Height of the terminal in lines. */
  rows(): number;
}

const WIDTH_WITHOUT_TERMINAL = 120;
const ROWS_WITHOUT_TERMINAL = 24;

/** Writes to the streams of a process. Colours and moving lines are for terminals, and `NO_COLOR` takes colours away. */
export function createOutput(
  stdout: NodeJS.WriteStream,
  stderr: NodeJS.WriteStream,
  env: Readonly<Record<string, string | undefined>>,
): Output {
  const { NO_COLOR, TERM } = env;
  const styleOf = (stream: NodeJS.WriteStream) =>
    pc.createColors(stream.isTTY === true && TERM !== 'dumb' && (NO_COLOR ?? '') === '');
  return {
    line: (text = '') => void stdout.write(`${text.trimEnd()}\n`),
    error: (text) => void stderr.write(`${text.trimEnd()}\n`),
    style: styleOf(stdout),
    errorStyle: styleOf(stderr),
    live: stdout.isTTY === true && TERM !== 'dumb' ? liveArea(stdout) : undefined,
    columns: () => stdout.columns ?? WIDTH_WITHOUT_TERMINAL,
    rows: () => stdout.rows ?? ROWS_WITHOUT_TERMINAL,
  };
}

function liveArea(stdout: NodeJS.WriteStream): LiveArea {
  const update = createLogUpdate(stdout);
  return {
    draw: (text) => update(text),
    clear() {
      update.clear();
      update.done();
    },
  };
}
