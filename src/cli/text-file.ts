import { createReadStream } from 'node:fs';

/** The text of a file, or why it was not read. */
export type TextFile =
  | { readonly ok: true; readonly text: string }
  | {
      readonly ok: false;
      readonly code: 'FILE_NOT_FOUND' | 'FILE_UNREADABLE' | 'INVALID_UNICODE' | 'TOO_LARGE';
      readonly message: string;
    };

const utf8 = new TextDecoder('utf-8', { fatal: true });
const MEGABYTE = 1024 * 1024;

/**
 * Reads a file of UTF-8 text, without its byte order mark. Of one that is larger than it may be no more is read than shows it:
 * it need not fit into memory, or have an end.
 */
export async function readTextFile(path: string, maxBytes: number): Promise<TextFile> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of createReadStream(path, { end: maxBytes })) {
      parts.push(part);
      bytes += part.length;
    }
  } catch (error) {
    return unread(error as NodeJS.ErrnoException);
  }
  if (bytes > maxBytes) {
    const message = `the file is larger than ${Math.floor(maxBytes / MEGABYTE)} MB, and is not read`;
    return { ok: false, code: 'TOO_LARGE', message };
  }
  try {
    return { ok: true, text: utf8.decode(Buffer.concat(parts)) };
  } catch {
    return { ok: false, code: 'INVALID_UNICODE', message: 'the file is not UTF-8 text' };
  }
}

function unread({ code, message }: NodeJS.ErrnoException): TextFile {
  if (code === 'ENOENT') return { ok: false, code: 'FILE_NOT_FOUND', message: 'there is no such file' };
  if (code === 'EISDIR') return { ok: false, code: 'FILE_NOT_FOUND', message: 'this is a folder, not a file' };
  return { ok: false, code: 'FILE_UNREADABLE', message };
}
