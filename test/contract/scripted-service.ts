import { WireError, wireAnswer, wireFailure } from '#local/wire-answer.ts';
import { listen } from '../integration/wire-listener.ts';

/** One request that reached the service. */
export interface ServiceCall {
  /** The API's name, such as `StartExecution`. */
  readonly api: string;
  readonly body: Record<string, unknown>;
}

/** What the service answers: a body, a failure, or a text that is no answer of AWS's. */
export type ServiceAnswer =
  | { readonly body: unknown }
  | { readonly failure: WireError }
  | { readonly text: string; readonly status: number };

/** A failure in the shape of the wire. */
export function failure(code: string, message: string, status = 400): ServiceAnswer {
  return { failure: new WireError(code, message, status) };
}

/**
 * A service on loopback that speaks AWS's JSON protocol and answers what the test wants, so that an adapter is tried
 * with the real client, down to the bytes of an error.
 * @param prefix of the target header, such as `AWSStepFunctions`
 */
export async function startScriptedService(prefix: string) {
  const calls: ServiceCall[] = [];
  let answer: (call: ServiceCall) => ServiceAnswer = () => failure('InternalFailure', 'nothing scripted', 500);
  const listener = await listen({
    [prefix]: async (target, body) => {
      const call = { api: target.slice(prefix.length + 1), body: JSON.parse(body.toString()) };
      calls.push(call);
      const given = answer(call);
      if ('text' in given) return { status: given.status, body: given.text };
      return 'failure' in given ? wireFailure('1.0', given.failure) : wireAnswer('1.0', given.body);
    },
  });
  return {
    clientConfig: listener.clientConfig,
    /** Every call so far, in order. */
    calls,
    /** Answers all further calls by a function of the call, and forgets those before. */
    script(next: (call: ServiceCall) => ServiceAnswer): void {
      calls.length = 0;
      answer = next;
    },
    close: () => listener.close(),
  };
}
