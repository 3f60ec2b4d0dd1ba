/**
 * Counts the values of a JSON text before anything is parsed: the syntax tree takes half a kilobyte for each, so that
 * a few megabytes of short numbers would take more memory than a function has.
 */
import type { DefinitionError } from '#domain/definition.ts';
import { TextPlaces } from '#domain/text-places.ts';

/** Values of a definition: twice as many as 10,000 nodes with 100,000 edges come to. */
const MOST_VALUES = 600_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Each begins a value, or stands before one: `,` `:` `[` `{`. So a key counts like a value, which it costs. */
const BEFORE_VALUES = new Set([0x2c, 0x3a, 0x5b, 0x7b]);

/** The error of a text with too many values. */
export function tooManyValues(text: string): DefinitionError | undefined {
  const offset = offsetOfLimit(text);
  if (offset === undefined) return undefined;
  const message = `the definition has more than ${MOST_VALUES} keys and values`;
  return {
    path: '',
    code: 'TOO_LARGE',
    message,
    allowed: `at most ${MOST_VALUES} keys and values`,
    ...new TextPlaces(text).at(offset),
  };
}

function offsetOfLimit(text: string): number | undefined {
  let values = 0;
  let isString = false;
  for (let offset = 0; offset < text.length; offset += 1) {
    const code = text.charCodeAt(offset);
    if (code === QUOTE) isString = !isString;
    else if (isString && code === BACKSLASH) offset += 1;
    else if (!isString && BEFORE_VALUES.has(code)) values += 1;
    if (values > MOST_VALUES) return offset;
  }
  return undefined;
}
