/** One step into a JSON value: the key of an object or the position in a list. */
export type PathSegment = string | number;

const PLAIN_KEY = /^[A-Za-z_][\w-]*$/;
const STEP = /\.?([A-Za-z_][\w-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/gy;

/**
 * Writes a path the way errors show it: `nodes[3].retry.maxAttempts`, with keys that are no plain words as
 * `params["odd key"]`. The empty text is the document itself.
 */
export function formatPath(segments: readonly PathSegment[]): string {
  let text = '';
  for (const segment of segments) {
    if (typeof segment === 'number') text += `[${segment}]`;
    else if (!PLAIN_KEY.test(segment)) text += `[${JSON.stringify(segment)}]`;
    else text += text === '' ? segment : `.${segment}`;
  }
  return text;
}

/** Reads what {@link formatPath} wrote. Text that it cannot have written gives the segments up to there. */
export function parsePath(path: string): PathSegment[] {
  return Array.from(path.matchAll(STEP), ([, word, position, quoted]) => {
    if (word !== undefined) return word;
    return position !== undefined ? Number(position) : (JSON.parse(quoted as string) as string);
  });
}
