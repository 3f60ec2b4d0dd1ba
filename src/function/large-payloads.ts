/** Reads payloads that came by reference, and returns large outputs by reference. */
import type { Json } from '#domain/json.ts';
import { PAYLOAD_LIMITS, type PayloadRef, refsWithin, replaceRefs, toEnvelope, tooLarge } from '#domain/payload-ref.ts';
import type { Payloads } from '#ports/index.ts';
import { toJsonText } from './json-output.ts';

/** The payload bucket of the installation. */
export interface PayloadBucket extends Pick<Payloads, 'put' | 'read'> {
  readonly name: string;
}

/** A payload or an output that is too large, or that cannot be had. */
export class PayloadError extends Error {
  override readonly name: string;

  constructor({ name, message }: { readonly name: string; readonly message: string }) {
    super(message);
    this.name = name;
  }
}

/**
 * Puts the values in place of the references in a payload. What refers to other buckets is no reference of ours.
 * @throws PayloadError `Millrace.PayloadTooLarge`, `Millrace.PayloadUnreadable`
 */
export async function openPayload(payload: Json, bucket: PayloadBucket | undefined): Promise<Json> {
  if (!bucket) return payload;
  const refs = new Map(
    refsWithin(payload).flatMap((ref) => (ref.bucket === bucket.name ? [[ref.key, ref] as const] : [])),
  );
  const bytes = [...refs.values()].reduce((sum, ref) => sum + ref.bytes, 0);
  if (bytes > PAYLOAD_LIMITS.stored) throw new PayloadError(tooLarge('the payload', bytes, PAYLOAD_LIMITS.stored));
  if (refs.size === 0) return payload;
  const values = new Map<string, Json>();
  for (const ref of refs.values()) values.set(ref.key, await readValue(bucket, ref));
  return replaceRefs(payload, ({ key }) => values.get(key));
}

async function readValue(bucket: PayloadBucket, ref: PayloadRef): Promise<Json> {
  const read = await bucket.read(ref);
  if (read.kind === 'read') return JSON.parse(read.text) as Json;
  throw new PayloadError({ name: 'Millrace.PayloadUnreadable', message: read.message });
}

/**
 * What to return for an output: itself, as JSON keeps it, or the envelope of the text that was stored.
 * @throws UnserializableOutput
 * @throws PayloadError `Millrace.PayloadTooLarge`
 */
export async function toReturned(output: unknown, bucket: PayloadBucket | undefined): Promise<Json> {
  const text = toJsonText(output);
  const bytes = Buffer.byteLength(text);
  const limit = bucket ? PAYLOAD_LIMITS.stored : PAYLOAD_LIMITS.direct;
  if (bytes > limit) throw new PayloadError(tooLarge('the output', bytes, limit));
  if (!bucket || bytes <= PAYLOAD_LIMITS.returned) return JSON.parse(text) as Json;
  return toEnvelope(await bucket.put(text));
}
