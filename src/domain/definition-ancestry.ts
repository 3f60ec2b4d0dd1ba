/**
 * Answers which nodes of an acyclic graph are upstream of which. Direct upstreams are looked up as they are; only a
 * question about others makes the table of all ancestors, one bit a pair (12 MB for 10,000 nodes).
 */
export class Ancestry {
  readonly #upstreams: readonly (readonly number[])[];
  readonly #words: number;
  #table: Uint32Array | undefined;

  constructor(upstreams: readonly (readonly number[])[]) {
    this.#upstreams = upstreams;
    this.#words = Math.ceil(upstreams.length / 32);
  }

  /** True if a path of edges leads from `ancestor` to `node`. */
  isUpstream(ancestor: number, node: number): boolean {
    if (this.#upstreams[node]?.includes(ancestor)) return true;
    this.#table ??= this.#allAncestors();
    const word = this.#table[node * this.#words + (ancestor >>> 5)] as number;
    return (word & (1 << (ancestor & 31))) !== 0;
  }

  #allAncestors(): Uint32Array {
    const words = this.#words;
    const table = new Uint32Array(words * this.#upstreams.length);
    for (const node of this.#upstreamsFirst()) {
      const row = node * words;
      for (const upstream of this.#upstreams[node] ?? []) {
        const from = upstream * words;
        for (let word = 0; word < words; word += 1) {
          table[row + word] = (table[row + word] as number) | (table[from + word] as number);
        }
        const bit = row + (upstream >>> 5);
        table[bit] = (table[bit] as number) | (1 << (upstream & 31));
      }
    }
    return table;
  }

  /** Kahn's order. */
  #upstreamsFirst(): readonly number[] {
    const downstreams: number[][] = this.#upstreams.map(() => []);
    for (const [node, list] of this.#upstreams.entries())
      for (const upstream of list) downstreams[upstream]?.push(node);
    const missing = this.#upstreams.map((list) => list.length);
    const order = [...missing.keys()].filter((node) => missing[node] === 0);
    for (const node of order) {
      for (const downstream of downstreams[node] ?? []) {
        missing[downstream] = (missing[downstream] as number) - 1;
        if (missing[downstream] === 0) order.push(downstream);
      }
    }
    return order;
  }
}
