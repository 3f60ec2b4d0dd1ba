/** Texts deflated into a binary attribute, for aggregates: their size is what a commit costs. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Longest text, in UTF-8 bytes. A hostile item must not inflate to more. */
const MAX_TEXT_BYTES = 8 * 1024 * 1024;

/**
 * Deflates a text.
 * @throws RangeError where it is longer than what is inflated again
 */
export function deflateText(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  if (bytes.length > MAX_TEXT_BYTES) throw new RangeError(`${bytes.length} bytes are more than ${MAX_TEXT_BYTES}`);
  return deflateRawSync(bytes, { level: 9 });
}

/**
 * Inflates a text.
 * @throws Error where the bytes are not deflated, not UTF-8, or too many
 */
export function inflateText(bytes: Uint8Array): string {
  const inflated = inflateRawSync(bytes, { maxOutputLength: MAX_TEXT_BYTES });
  return new TextDecoder('utf-8', { fatal: true }).decode(inflated);
}
