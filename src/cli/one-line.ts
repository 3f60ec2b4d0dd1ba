import { stripVTControlCharacters } from 'node:util';

/** Longest text that is shown in one line before it is cut. */
const MAX_LENGTH = 500;

/** Foreign text as one harmless line: messages of users' functions may hold line breaks, and codes that move the cursor. */
export function oneLine(text: string, maxLength = MAX_LENGTH): string {
  const flat = stripVTControlCharacters(text)
    .replaceAll(/[\s\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .trim();
  return cutText(flat, maxLength);
}

/** A text of at most so many UTF-16 units; where it is cut, it ends in `…` and never in half a character. */
export function cutText(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
