/**
 * Payloads in an S3 bucket. This module loads the SDK's client, which takes longer than most functions: import it
 * only by `createS3Payloads`, which does so when the first payload is met.
 */
import { createHash } from 'node:crypto';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { PAYLOAD_LIMITS, type PayloadFolder, type PayloadRef, payloadKey } from '#domain/payload-ref.ts';
import type { PayloadRead, Payloads } from '#ports/index.ts';
import { toServiceFailure } from './service-error.ts';

/** How long a presigned address works (seconds). */
const PRESIGNED_SECONDS = 300;

/** Fifty megabytes take a while; a connection that is silent for this long is lost (ms). */
const HTTP = { connectionTimeout: 1_000, requestTimeout: 20_000, throwOnRequestTimeout: true };

/** Where payloads are. */
export interface S3PayloadOptions {
  readonly bucket: string;
  /** Where new ones are put. */
  readonly folder: PayloadFolder;
}

/** Makes the store with a client of its own. Throttles and outages are thrown, after the client's own repetitions. */
export function openS3PayloadStore({ bucket, folder }: S3PayloadOptions): Payloads & { close(): void } {
  const client = new S3Client({ maxAttempts: 4, requestHandler: HTTP });
  return {
    async put(text) {
      const body = Buffer.from(text);
      if (body.length > PAYLOAD_LIMITS.stored) {
        throw new RangeError(`a text of ${body.length} bytes is too long to be stored`);
      }
      const hash = createHash('sha256').update(body).digest();
      const sha256 = hash.toString('hex');
      const key = payloadKey(folder, sha256);
      const object = { Bucket: bucket, Key: key, Body: body, ContentType: 'application/json' };
      await client.send(new PutObjectCommand({ ...object, ChecksumSHA256: hash.toString('base64') }));
      return { bucket, key, bytes: body.length, sha256 };
    },
    read: (ref) => read(client, bucket, ref),
    async presign(ref) {
      if (ref.bucket !== bucket) return undefined;
      const object = { Bucket: bucket, Key: ref.key, ResponseContentType: 'application/json' };
      return getSignedUrl(client, new GetObjectCommand(object), { expiresIn: PRESIGNED_SECONDS });
    },
    close: () => client.destroy(),
  };
}

async function read(client: S3Client, bucket: string, ref: PayloadRef): Promise<PayloadRead> {
  if (ref.bucket !== bucket)
    return { kind: 'refused', message: `${ref.bucket} is not the bucket of this installation` };
  if (ref.bytes > PAYLOAD_LIMITS.stored) return { kind: 'refused', message: `${ref.bytes} bytes are too many` };
  try {
    const { Body, ContentLength } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: ref.key }));
    // Said before it is read, so that an object of any size costs no memory.
    if (ContentLength !== ref.bytes || Body === undefined) return damaged(ref);
    const bytes = await Body.transformToByteArray();
    if (createHash('sha256').update(bytes).digest('hex') !== ref.sha256) return damaged(ref);
    return { kind: 'read', text: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString() };
  } catch (error) {
    const failure = toServiceFailure(error);
    if (failure.kind !== 'refused') throw error;
    // Without the right to list the bucket, which nobody here has, S3 says AccessDenied of what is not there.
    const isGone = failure.code === 'NoSuchKey' || failure.code === 'AccessDenied';
    const why = isGone ? 'is not there (any more), or may not be read' : `cannot be read: ${failure.message}`;
    return { kind: 'refused', message: `${ref.key} in ${bucket} ${why}` };
  }
}

function damaged(ref: PayloadRef): PayloadRead {
  return { kind: 'refused', message: `${ref.key} in ${ref.bucket} is not what was stored` };
}
