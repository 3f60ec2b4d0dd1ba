import { createWriteStream, mkdirSync } from 'node:fs';
import path from 'node:path';

/** Where the output of a function's environments goes, line by line. */
export type FunctionLog = {
  /** A line without its end; `requestId` is missing for what was written outside any invocation. */
  line(text: string, requestId?: string): void;
  /** Resolves when everything is written. */
  close(): Promise<void>;
};

/**
 * Appends to `<folder>/<function>.log`.
 * @param options.stamped puts time and request id before each line, for output that does not carry them itself
 */
export function openFunctionLog(folder: string, functionName: string, options: { stamped: boolean }): FunctionLog {
  mkdirSync(folder, { recursive: true });
  const stream = createWriteStream(path.join(folder, `${functionName}.log`), { flags: 'a' });
  return {
    line(text, requestId) {
      stream.write(options.stamped ? `${new Date().toISOString()}\t${requestId ?? '-'}\t${text}\n` : `${text}\n`);
    },
    close: () => new Promise((resolve) => stream.end(() => resolve())),
  };
}

/** Cuts a stream of text into lines; what follows the last line end waits for its own. */
export class LineSplitter {
  readonly #emit: (line: string) => void;
  #rest = '';

  constructor(emit: (line: string) => void) {
    this.#emit = emit;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#emit(line);
  }

  /** Emits what is left; for the end of the stream. */
  end(): void {
    if (this.#rest !== '') this.#emit(this.#rest);
    this.#rest = '';
  }
}
