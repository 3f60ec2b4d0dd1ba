/** Signs requests to the API (SigV4), with the credentials of a function's own role or of a user. Loaded where that is first needed. */
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';

/** The hash that the signer works with, by Node.js itself. */
class NodeSha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', toBytes(secret));
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

function toBytes(secret: string | ArrayBuffer | ArrayBufferView): string | Uint8Array {
  if (typeof secret === 'string') return secret;
  if (!ArrayBuffer.isView(secret)) return new Uint8Array(secret);
  return new Uint8Array(secret.buffer, secret.byteOffset, secret.byteLength);
}

/** Credentials of AWS. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** A request that is to be signed. */
export interface UnsignedRequest {
  readonly method: string;
  readonly url: URL;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** The headers that a request has once it is signed. */
export async function signedHeaders(
  { method, url, headers, body }: UnsignedRequest,
  credentials: AwsCredentials,
  region: string,
): Promise<Record<string, string>> {
  const signer = new SignatureV4({ service: 'execute-api', region, credentials, sha256: NodeSha256 });
  const query = new Map<string, string[]>();
  for (const [name, value] of url.searchParams) query.set(name, [...(query.get(name) ?? []), value]);
  const signed = await signer.sign({
    method,
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query: Object.fromEntries(query),
    headers: { ...headers, host: url.host },
    ...(body !== undefined && { body }),
  });
  return signed.headers;
}
