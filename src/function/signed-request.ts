/** Signs requests to the API with the credentials of a function's own role (SigV4). Loaded where that is first needed. */
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

/** Credentials as Lambda gives them to a function. */
export interface RoleCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** The headers of a signed POST of a JSON text. */
export async function signedHeaders(
  url: URL,
  body: string,
  credentials: RoleCredentials,
  region: string,
): Promise<Record<string, string>> {
  const signer = new SignatureV4({ service: 'execute-api', region, credentials, sha256: NodeSha256 });
  const { headers } = await signer.sign({
    method: 'POST',
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: { host: url.host, 'content-type': 'application/json' },
    body,
  });
  return headers;
}
