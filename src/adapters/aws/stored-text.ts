/**
 * How a text of any length lies in the table: short ones as they are, longer ones compressed inside their item, and
 * those that an item cannot hold in chunk items beside it. Chunks are named by the text's digest and put before the
 * item that names them, so an item never points to pieces of two texts.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import * as z from 'zod';
import type { Table } from './table.ts';
import { chunkSortKey } from './table-keys.ts';

/** A text up to here stays as it is: with a result's other attributes it fills one write unit. */
const PLAIN_BYTES = 940;

/** Most compressed bytes in one item, which DynamoDB limits to 400 KB. */
const CHUNK_BYTES = 350 * 1024;

/** Longest text that is stored, in UTF-8 bytes: a bound for what reading one may take up in memory. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** The attributes that hold a text: as it is, compressed, or the number and the digest of its chunks. */
export const storedTextFields = z.union([
  z.object({ t: z.string() }),
  z.object({ z: z.instanceof(Uint8Array) }),
  z.object({ n: z.int().positive(), h: z.string() }),
]);

/** The attributes of {@link storedTextFields}, or none of them. */
export const optionalTextFields = z.union([
  storedTextFields,
  z.object({ t: z.undefined().optional(), z: z.undefined().optional(), n: z.undefined().optional() }),
]);

/** One of the forms of {@link storedTextFields}. */
export type StoredTextFields = z.output<typeof storedTextFields>;

const chunkItem = z.object({ z: z.instanceof(Uint8Array) });

/** A stored text that lacks a chunk, or whose bytes are not those that were stored. */
export class DamagedTextError extends Error {
  readonly code = 'DAMAGED_TEXT';

  constructor(detail: string, cause?: unknown) {
    super(detail, { cause });
    this.name = 'DamagedTextError';
  }
}

/**
 * Gives the attributes for a text, once its chunks are put, if it needs any.
 * @param expiry of the chunks, in seconds since the epoch; none: they stay
 * @throws RangeError for more than 64 MiB
 */
export async function storeText(
  table: Table,
  partition: string,
  text: string,
  expiry?: number,
): Promise<StoredTextFields> {
  const bytes = Buffer.from(text);
  if (bytes.length <= PLAIN_BYTES) return { t: text };
  if (bytes.length > MAX_TEXT_BYTES) {
    throw new RangeError(`a text of ${bytes.length} bytes is longer than the ${MAX_TEXT_BYTES} that can be stored`);
  }
  const compressed = await compress(bytes);
  if (compressed.length <= CHUNK_BYTES) return { z: compressed };
  const digest = createHash('sha256').update(bytes).digest('base64url');
  const chunks = Math.ceil(compressed.length / CHUNK_BYTES);
  for (let at = 0; at < chunks; at++) {
    await table.put({
      pk: partition,
      sk: chunkSortKey(digest, at),
      z: compressed.subarray(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES),
      ttl: expiry,
    });
  }
  return { n: chunks, h: digest };
}

/**
 * Reads a text back.
 * @throws DamagedTextError
 */
export async function readText(table: Table, partition: string, fields: StoredTextFields): Promise<string> {
  if ('t' in fields) return fields.t;
  const compressed = 'z' in fields ? fields.z : await readChunks(table, partition, fields);
  try {
    return (await decompress(compressed, { maxOutputLength: MAX_TEXT_BYTES })).toString();
  } catch (cause) {
    throw new DamagedTextError('a stored text cannot be decompressed', cause);
  }
}

/**
 * Copies the chunks of a text, if it has any, to another partition.
 * @throws DamagedTextError
 */
export async function copyChunks(
  table: Table,
  from: string,
  to: string,
  fields: StoredTextFields,
  expiry: number,
): Promise<void> {
  if (!('n' in fields)) return;
  for (let at = 0; at < fields.n; at++) {
    const z = await readChunk(table, from, fields, at);
    await table.put({ pk: to, sk: chunkSortKey(fields.h, at), z, ttl: expiry });
  }
}

async function readChunks(table: Table, partition: string, fields: { n: number; h: string }): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < fields.n; at++) {
    chunks.push(await readChunk(table, partition, fields, at));
  }
  return Buffer.concat(chunks);
}

async function readChunk(table: Table, partition: string, { h }: { readonly h: string }, at: number) {
  const item = chunkItem.safeParse(await table.get({ pk: partition, sk: chunkSortKey(h, at) }));
  if (!item.success) throw new DamagedTextError(`chunk ${at} of a stored text is missing`, item.error);
  return item.data.z;
}
