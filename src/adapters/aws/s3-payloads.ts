import type { Payloads } from '#ports/index.ts';
import type { S3PayloadOptions } from './s3-payload-store.ts';

/** Payloads that own connections. */
export interface S3Payloads extends Payloads {
  close(): Promise<void>;
}

/**
 * Payloads in an S3 bucket. The SDK's client, a megabyte of code, is loaded when the first payload is met, since most
 * functions never meet one. Bundles keep it in a file of its own (`infra/constructs/bundle.ts`).
 */
export function createS3Payloads(options: S3PayloadOptions): S3Payloads {
  let opening: ReturnType<typeof open> | undefined;
  const store = () => {
    opening ??= open(options);
    return opening;
  };
  return {
    put: async (text) => (await store()).put(text),
    read: async (ref) => (await store()).read(ref),
    presign: async (ref) => (await store()).presign(ref),
    close: async () => (await opening)?.close(),
  };
}

async function open(options: S3PayloadOptions) {
  const { openS3PayloadStore } = await import('#adapters/aws/s3-payload-store.ts');
  return openS3PayloadStore(options);
}
