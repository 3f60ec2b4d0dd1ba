import type { Page } from './operations.ts';

/** A list that comes in pages. Nothing is asked before it is read; reading it again asks again. */
export interface PagedList<Item, OnePage extends Page<Item> = Page<Item>> extends AsyncIterable<Item> {
  /**
   * One page.
   * @param cursor `nextCursor` of the page before @default the first page
   */
  page(cursor?: string): Promise<OnePage>;
  /** Page after page. */
  pages(): AsyncIterable<OnePage>;
  /** All entries, page after page. */
  all(): Promise<Item[]>;
}

/** A list, by what reads a page of it. */
export function pagedList<Item, OnePage extends Page<Item>>(
  readPage: (cursor: string | undefined) => Promise<OnePage>,
): PagedList<Item, OnePage> {
  async function* pages(): AsyncGenerator<OnePage, void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await readPage(cursor);
      yield page;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }
  async function* items(): AsyncGenerator<Item, void, undefined> {
    for await (const page of pages()) yield* page.items;
  }
  return {
    page: (cursor) => readPage(cursor),
    pages,
    async all() {
      const all: Item[] = [];
      for await (const item of items()) all.push(item);
      return all;
    },
    [Symbol.asyncIterator]: items,
  };
}
