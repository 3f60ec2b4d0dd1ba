/** How {@link LineSplitter} cuts. */
export type LineLimit = {
  /** Longest line, in characters; what is more of it is left out, and the line says how much. */
  readonly maxCharacters: number;
};

/** Lines of a function's output: CloudWatch Logs takes events of 256 KB. */
const outputLine: LineLimit = { maxCharacters: 256 * 1024 };

/** Cuts a stream of text into lines; what follows the last line end waits for its own. */
export class LineSplitter {
  readonly #emit: (line: string) => void;
  readonly #limit: LineLimit;
  #parts: string[] = [];
  #kept = 0;
  #leftOut = 0;

  constructor(emit: (line: string) => void, limit = outputLine) {
    this.#emit = emit;
    this.#limit = limit;
  }

  push(text: string): void {
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      this.#take(text.slice(from, end));
      this.#endLine();
      from = end + 1;
    }
    if (from < text.length) this.#take(text.slice(from));
  }

  /** Emits what is left; for the end of the stream. */
  end(): void {
    if (this.#kept > 0) this.#endLine();
  }

  #take(text: string): void {
    const part = text.slice(0, this.#limit.maxCharacters - this.#kept);
    this.#leftOut += text.length - part.length;
    this.#kept += part.length;
    if (part.length > 0) this.#parts.push(part);
  }

  #endLine(): void {
    const line = this.#parts.length === 1 ? (this.#parts[0] as string) : this.#parts.join('');
    const more = this.#leftOut === 0 ? '' : ` … (${this.#leftOut} more characters of this line are left out)`;
    this.#parts = [];
    this.#kept = 0;
    this.#leftOut = 0;
    this.#emit(line + more);
  }
}
