import { createHash } from 'node:crypto';
import { PAYLOAD_LIMITS, payloadKey } from '#domain/payload-ref.ts';
import type { Payloads } from '#ports/index.ts';

const BUCKET = 'memory';

/** Payloads in memory, and what a test may do to them. */
export interface MemoryPayloads extends Payloads {
  /** The texts, by key. */
  readonly stored: Map<string, string>;
}

/** Makes an empty store: the twin of the one over S3 for tests and simulation. */
export function createMemoryPayloads(): MemoryPayloads {
  const stored = new Map<string, string>();
  return {
    stored,
    async put(text) {
      const bytes = Buffer.byteLength(text);
      if (bytes > PAYLOAD_LIMITS.stored) throw new RangeError(`a text of ${bytes} bytes is too long to be stored`);
      const sha256 = hashOf(text);
      const key = payloadKey('inputs', sha256);
      stored.set(key, text);
      return { bucket: BUCKET, key, bytes, sha256 };
    },
    async read(ref) {
      const text = ref.bucket === BUCKET ? stored.get(ref.key) : undefined;
      if (text === undefined) return { kind: 'refused', message: `${ref.key} is not there` };
      if (Buffer.byteLength(text) !== ref.bytes || hashOf(text) !== ref.sha256) {
        return { kind: 'refused', message: `${ref.key} is not what was stored` };
      }
      return { kind: 'read', text };
    },
    async presign(ref) {
      return ref.bucket === BUCKET ? `https://${BUCKET}.example/${ref.key}` : undefined;
    },
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
