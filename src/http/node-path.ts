/**
 * Node ids in paths. An HTTP API cannot carry every id, so an id stands as it is only where it is made of
 * `A-Z a-z 0-9 . _ -` and does not begin with `b64.`; any other is `b64.` and the base64url of its UTF-8 bytes.
 */
const PLAIN = /^[A-Za-z0-9._-]+$/;
const ENCODED = 'b64.';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The form that a node's id has in a path. */
export function toNodePath(id: string): string {
  // Clients take `.` and `..` out of paths.
  const isPlain = PLAIN.test(id) && !id.startsWith(ENCODED) && id !== '.' && id !== '..';
  return isPlain ? id : `${ENCODED}${toBase64Url(new TextEncoder().encode(id))}`;
}

/** Without the Buffer of Node.js: browsers write these paths, too. */
function toBase64Url(bytes: Uint8Array): string {
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Reads an id back; nothing where no id has this form. */
export function fromNodePath(segment: string): string | undefined {
  if (!segment.startsWith(ENCODED)) return PLAIN.test(segment) ? segment : undefined;
  const encoded = segment.slice(ENCODED.length);
  const bytes = Buffer.from(encoded, 'base64url');
  if (bytes.toString('base64url') !== encoded) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
