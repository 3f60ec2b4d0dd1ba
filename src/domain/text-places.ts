/** A place in a text. */
export interface TextPlace {
  /** One-based. */
  readonly line: number;
  /** One-based, in UTF-16 units, as editors count. */
  readonly column: number;
}

/** Turns offsets into a text into lines and columns. Lines end with LF or CRLF. */
export class TextPlaces {
  readonly #lineStarts: number[] = [0];

  constructor(text: string) {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#lineStarts.push(at + 1);
  }

  /** The place of the character at an offset. */
  at(offset: number): TextPlace {
    let [low, high] = [0, this.#lineStarts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#lineStarts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.#lineStarts[low] as number) + 1 };
  }
}
