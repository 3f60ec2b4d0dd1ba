import { createWriteStream, fstatSync, mkdirSync, openSync, renameSync, type WriteStream } from 'node:fs';
import path from 'node:path';

/** Where the output of a function's environments goes, line by line. */
export type FunctionLog = {
  /** A line without its end; `requestId` is missing for what was written outside any invocation. */
  line(text: string, requestId?: string): void;
  /** Resolves when everything is written. */
  close(): Promise<void>;
};

/** How a log is kept. */
export type FunctionLogOptions = {
  /** Puts time and request id before each line, for output that does not carry them itself. */
  readonly stamped: boolean;
  /** Largest file, in bytes; there are two of them, this one and the one before. @default 16 MiB */
  readonly maxBytes?: number;
  /** Whether there is room on the disk; lines that come while there is none are left out, and counted. @default always */
  readonly hasRoom?: () => boolean;
};

const MEBIBYTE = 1024 * 1024;
/** What may wait in memory for a disk that is slower than the function; further lines are left out, and counted. */
const maxWaitingBytes = 8 * MEBIBYTE;
/** After a file could not be written, it is tried again no sooner than this. */
const tryAgainMs = 1000;

/**
 * Appends to `<folder>/<function>.log`. A file that is full becomes `<function>.1.log`, in the place of the one before
 * it, so that a function takes no more of the disk than two files, however much it writes. Lines that cannot be written
 * are left out and counted: nothing that a function prints may keep the host from working.
 */
export function openFunctionLog(folder: string, functionName: string, options: FunctionLogOptions): FunctionLog {
  mkdirSync(folder, { recursive: true });
  return new RotatedLog(path.join(folder, functionName), options);
}

class RotatedLog implements FunctionLog {
  readonly #file: string;
  readonly #before: string;
  readonly #options: FunctionLogOptions;
  readonly #maxBytes: number;
  readonly #closing = new Set<Promise<void>>();
  #stream: WriteStream | undefined;
  #bytes = 0;
  #leftOut = 0;
  #failedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(name: string, options: FunctionLogOptions) {
    this.#file = `${name}.log`;
    this.#before = `${name}.1.log`;
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? 16 * MEBIBYTE;
    this.#stream = this.#open();
  }

  line(text: string, requestId?: string): void {
    const stream = this.#writable();
    if (stream === undefined) {
      this.#leftOut += 1;
      return;
    }
    if (this.#leftOut > 0) {
      this.#write(stream, `(${this.#leftOut} lines are left out here: they could not be written)`, undefined);
      this.#leftOut = 0;
    }
    this.#write(stream, text, requestId);
    if (this.#bytes >= this.#maxBytes) this.#rotate(stream);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#stream !== undefined) this.#end(this.#stream);
    await Promise.all(this.#closing);
  }

  #writable(): WriteStream | undefined {
    if (this.#isClosed || this.#options.hasRoom?.() === false) return undefined;
    if (this.#stream === undefined && performance.now() - this.#failedAt >= tryAgainMs) this.#openAgain();
    return this.#stream !== undefined && this.#stream.writableLength < maxWaitingBytes ? this.#stream : undefined;
  }

  #write(stream: WriteStream, text: string, requestId: string | undefined): void {
    const line = this.#options.stamped ? `${new Date().toISOString()}\t${requestId ?? '-'}\t${text}\n` : `${text}\n`;
    this.#bytes += Buffer.byteLength(line);
    stream.write(line);
  }

  #rotate(stream: WriteStream): void {
    const [file, before] = [path.basename(this.#file), path.basename(this.#before)];
    this.#write(
      stream,
      `(this file is full: it goes on in ${file}, and this is ${before} until that one is full)`,
      undefined,
    );
    this.#end(stream);
    this.#stream = undefined;
    this.#openAgain(() => renameSync(this.#file, this.#before));
  }

  #openAgain(first: () => void = () => {}): void {
    try {
      first();
      this.#stream = this.#open();
    } catch {
      this.#failedAt = performance.now();
    }
  }

  #open(): WriteStream {
    // What is written to a file that was opened here follows it through a later change of its name.
    const fd = openSync(this.#file, 'a');
    this.#bytes = fstatSync(fd).size;
    const stream = createWriteStream(this.#file, { fd });
    stream.on('error', () => this.#fail(stream));
    return stream;
  }

  #fail(stream: WriteStream): void {
    if (this.#stream !== stream) return;
    this.#stream = undefined;
    this.#leftOut += 1;
    this.#failedAt = performance.now();
  }

  #end(stream: WriteStream): void {
    const closed = new Promise<void>((resolve) => {
      stream.once('close', resolve);
      if (stream.closed) resolve();
      else stream.end();
    });
    this.#closing.add(closed);
    void closed.then(() => this.#closing.delete(closed));
  }
}
