/** Calls of a deployed HTTP API: each request is signed with AWS credentials (SigV4), as on AWS. */
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { request as sendRequest } from 'node:http';
import { SignatureV4 } from '@smithy/signature-v4';

/** Who calls. */
export interface Caller {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** What the API answered. */
export interface ApiAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read the fields that they expect
  readonly body: any;
}

/** Calls one path of the API, with a JSON or YAML body. */
export type CallApi = (method: string, path: string, body?: unknown) => Promise<ApiAnswer>;

const REGION = 'us-east-1';

/**
 * Makes the client of the API at an address.
 * @param caller signs the requests @default nobody: they are not signed
 */
export function createApiCaller(apiUrl: string, caller?: Caller): CallApi {
  const signer =
    caller && new SignatureV4({ service: 'execute-api', region: REGION, credentials: caller, sha256: NodeSha256 });
  return async (method, path, body) => {
    const url = new URL(`${apiUrl}${path}`);
    const isText = typeof body === 'string';
    const text = body === undefined ? '' : isText ? body : JSON.stringify(body);
    const request = {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { host: url.host, 'content-type': isText ? 'application/yaml' : 'application/json' },
      body: text,
    };
    const { headers } = signer ? await signer.sign(request) : request;
    return await send(url, method, headers, text);
  };
}

/** Names below `localhost` lead to this machine, but not every resolver says so. */
function send(url: URL, method: string, headers: Record<string, string>, text: string): Promise<ApiAnswer> {
  return new Promise((resolve, reject) => {
    const options = {
      method,
      headers,
      host: '127.0.0.1',
      port: url.port,
      path: url.pathname + url.search,
      timeout: 60_000,
    };
    const request = sendRequest(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const answer = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, body: parse(answer) });
      });
    });
    request.on('timeout', () => request.destroy(new Error(`${method} ${url.pathname} was not answered`)));
    request.on('error', reject);
    request.end(text);
  });
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}

/** The hash that the signer works with. */
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
