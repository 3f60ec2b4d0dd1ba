/** Calls of a deployed HTTP API: each request is signed with AWS credentials (SigV4), as on AWS. */
import { request as sendRequest } from 'node:https';
import { type AwsCredentials, signedHeaders } from '#function/signed-request.ts';

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
export function createApiCaller(apiUrl: string, caller?: AwsCredentials): CallApi {
  return async (method, path, body) => {
    const url = new URL(`${apiUrl}${path}`);
    const isText = typeof body === 'string';
    const text = body === undefined ? '' : isText ? body : JSON.stringify(body);
    const headers = { host: url.host, 'content-type': isText ? 'application/yaml' : 'application/json' };
    const signed = caller ? await signedHeaders({ method, url, headers, body: text }, caller, REGION) : headers;
    return await send(url, method, signed, text);
  };
}

/** Names below `localhost` lead to this machine, but not every resolver says so. */
function send(url: URL, method: string, headers: Record<string, string>, text: string): Promise<ApiAnswer> {
  return new Promise((resolve, reject) => {
    const options = {
      method,
      headers,
      host: '127.0.0.1',
      servername: url.hostname,
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
