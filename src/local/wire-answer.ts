/** What a service answers to one request of the AWS JSON protocol; the listener adds nothing but the length. */
export type WireAnswer = {
  /** HTTP status. */
  readonly status: number;
  /** JSON text. */
  readonly body: string | Buffer;
  /** Response headers, the content type among them. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** The two versions of the AWS JSON protocol that the hosted services speak. */
export type JsonProtocol = '1.0' | '1.1';

/** A failed request in the shape that AWS clients turn into an exception of that name. */
export class WireError extends Error {
  override readonly name = 'WireError';
  /** The exception's name, as a client's `error.name` shows it: `ResourceNotFoundException`. */
  readonly code: string;
  /** HTTP status. */
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** An answer with a JSON body. */
export function wireAnswer(protocol: JsonProtocol, body: unknown, status = 200): WireAnswer {
  return {
    status,
    body: JSON.stringify(body),
    headers: { 'content-type': `application/x-amz-json-${protocol}` },
  };
}

/** The answer that makes a client throw `error`; anything that is no {@link WireError} becomes an `InternalFailure`, status 500. */
export function wireFailure(protocol: JsonProtocol, error: unknown): WireAnswer {
  const known =
    error instanceof WireError
      ? error
      : new WireError('InternalFailure', error instanceof Error ? error.message : String(error), 500);
  const answer = wireAnswer(protocol, { __type: known.code, message: known.message }, known.status);
  return { ...answer, headers: { ...answer.headers, 'x-amzn-errortype': known.code } };
}
