import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Chaos } from '#local/chaos.ts';
import type { Disk } from '#local/disk.ts';
import type { LoopbackAnswer, LoopbackRequest } from '#local/loopback-server.ts';
import {
  ObjectError,
  type ObjectRequest,
  objectAnswer,
  objectFailure,
  readObjectRequest,
} from '#local/object-protocol.ts';
import type { WireLog } from '#local/wire-log.ts';
import type { WriteGuard } from '#local/write-guard.ts';

/** What the buckets need. */
export type ObjectStoreOptions = {
  readonly disk: Disk;
  /** The folder of the objects' contents; made if it is not there. */
  readonly folder: string;
  readonly wireLog: WireLog;
  readonly chaos?: Pick<Chaos, 'throttles'>;
  /** Says when there is room for contents. @default always */
  readonly guard?: Pick<WriteGuard, 'room'>;
};

/** S3 buckets on disk. */
export type ObjectStore = {
  /** Hosts a bucket. */
  create(bucket: string): void;
  /** One request of S3's protocol, path-style. It never rejects. */
  handle(request: LoopbackRequest): Promise<LoopbackAnswer>;
};

/** An object as the database knows it; its content is in a file of that name. */
type StoredObject = {
  readonly file: string;
  readonly bytes: number;
  readonly etag: string;
  readonly contentType: string;
  /** Milliseconds since 1970. */
  readonly modified: number;
};

/** A read gives up when its object was replaced this often under it. */
const MAX_READS = 5;

/**
 * Opens the store. What it puts is on disk before the answer: first the content in a file of its own, then the entry that
 * names it, so that an object is always the whole of one put.
 */
export async function openObjectStore({
  disk,
  folder,
  wireLog,
  chaos,
  guard,
}: ObjectStoreOptions): Promise<ObjectStore> {
  const objects = disk.section<StoredObject>('s3-objects');
  const buckets = new Set<string>();
  await mkdir(folder, { recursive: true });
  await removeUnnamed();

  /** Files that an earlier host wrote and did not come to name. */
  async function removeUnnamed(): Promise<void> {
    const named = new Set<string>();
    for await (const [, { file }] of objects.entries()) named.add(file);
    for (const file of await readdir(folder)) {
      if (!named.has(file)) await rm(path.join(folder, file), { force: true });
    }
  }

  async function put({ id, body, contentType }: ObjectRequest): Promise<LoopbackAnswer> {
    const file = randomUUID();
    await guard?.room();
    await writeFile(path.join(folder, file), body).catch(async (error: unknown) => {
      await rm(path.join(folder, file), { force: true });
      throw error;
    });
    const before = await objects.get(id);
    const etag = `"${createHash('md5').update(body).digest('hex')}"`;
    await objects.put(id, { file, bytes: body.length, etag, contentType, modified: Date.now() });
    if (before !== undefined) await rm(path.join(folder, before.file), { force: true });
    return objectAnswer({ etag });
  }

  async function get({ id, key, responseContentType }: ObjectRequest): Promise<LoopbackAnswer> {
    for (let reads = 0; reads < MAX_READS; reads++) {
      const found = await objects.get(id);
      if (found === undefined) break;
      const content = await readFile(path.join(folder, found.file)).catch(() => undefined);
      if (content === undefined) continue;
      if (content.length !== found.bytes) throw damagedObject(key, path.join(folder, found.file));
      const { etag, contentType, modified } = found;
      return objectAnswer({ etag, contentType: responseContentType ?? contentType, modified }, content);
    }
    throw new ObjectError('NoSuchKey', `The specified key does not exist: ${key}`, 404);
  }

  return {
    create: (bucket) => void buckets.add(bucket),
    async handle(request) {
      try {
        const asked = readObjectRequest(request, Date.now());
        wireLog.call('s3', asked.api);
        wireLog.count(asked.api === 'PutObject' ? 'objectWrites' : 'objectReads');
        if (chaos?.throttles(asked.api)) throw new ObjectError('SlowDown', 'Please reduce your request rate.', 503);
        if (!buckets.has(asked.bucket))
          throw new ObjectError('NoSuchBucket', `There is no bucket ${asked.bucket}`, 404);
        return await (asked.api === 'PutObject' ? put(asked) : get(asked));
      } catch (error) {
        return objectFailure(error);
      }
    },
  };
}

function damagedObject(key: string, file: string): ObjectError {
  return new ObjectError(
    'InternalError',
    `The object ${key} is damaged: ${file} is not as long as it was written`,
    500,
  );
}
