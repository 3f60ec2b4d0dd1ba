/** A request and an answer, whatever carries them. */

/** A request. */
export interface ApiRequest {
  readonly method: string;
  /** The path, decoded as the gateway decodes it. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
  /** Who calls, as the gateway found out. */
  readonly by?: string;
  readonly requestId: string;
}

/** An answer. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer to HEAD: that to GET, without its body. */
export function withoutBody({ body: _unsent, ...head }: ApiResponse): ApiResponse {
  return head;
}

/** An answer with a JSON body. */
export function jsonResponse(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): ApiResponse {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}
