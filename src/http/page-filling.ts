/** A page ends at this size (bytes of its JSON text), since an answer has to fit into an invocation. */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** Entries that are read before the size of the page is looked at again. */
const CHUNK = 50;

/**
 * Fills a page until it holds `limit` entries or is too large.
 * @param wanted all entries from the beginning of the page on, each with its place in the list
 * @param read gives the views of some entries, in their order
 * @returns the views, and the place after the page where there is more
 */
export async function fillPage<Entry extends { readonly place: number }, View>(
  wanted: readonly Entry[],
  limit: number,
  read: (entries: readonly Entry[]) => Promise<readonly View[]>,
): Promise<{ readonly items: readonly View[]; readonly next?: number }> {
  const items: View[] = [];
  let bytes = 0;
  for (let at = 0; at < wanted.length && at < limit; at += CHUNK) {
    const chunk = wanted.slice(at, Math.min(at + CHUNK, limit));
    for (const [offset, view] of (await read(chunk)).entries()) {
      bytes += Buffer.byteLength(JSON.stringify(view));
      if (bytes > MAX_PAGE_BYTES && items.length > 0) return { items, next: (chunk[offset] as Entry).place };
      items.push(view);
    }
  }
  const next = wanted[items.length]?.place;
  return next === undefined ? { items } : { items, next };
}
