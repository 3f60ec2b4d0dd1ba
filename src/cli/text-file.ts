const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The text of a file, without a byte order mark; undefined if it is not UTF-8. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
