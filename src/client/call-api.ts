/** One call of the API: makes its request, sends it, checks its answer. */
import { toNodePath } from '#http/node-path.ts';
import { InvalidNameError, type ProblemError } from './errors.ts';
import {
  type AnswerOf,
  type CallInput,
  OPERATIONS,
  type Operation,
  type OperationId,
  type QueryValue,
} from './operations.ts';
import { checkAnswer } from './read-answer.ts';
import { type Answered, type OutgoingRequest, type Sending, sendRequest } from './send-request.ts';

/** What a call answered. */
export interface Answer<Value> extends Omit<Answered, 'value'> {
  readonly value: Value;
}

/** Makes calls. */
export type CallApi = <Id extends OperationId>(id: Id, input?: CallInput<Id>) => Promise<Answer<AnswerOf<Id>>>;

/** Calls the API at an address. */
export function createCallApi(url: string, sending: Sending): CallApi {
  const base = url.replace(/\/+$/, '');
  return async function callApi<Id extends OperationId>(id: Id, input: CallInput<Id> = {}) {
    const operation = OPERATIONS[id] as Operation<string, AnswerOf<Id>>;
    const request = toRequest(base, operation, input as AnyInput);
    const answered = await sendRequest(request, sending, {
      signal: input.signal,
      isRepeatable: input.ifMatch === undefined,
      ...(operation.method === 'DELETE' && { isDone: isGone }),
    });
    const value = operation.answer
      ? checkAnswer(operation.answer, answered.value, `${request.method} ${request.url.href}`)
      : (undefined as AnswerOf<Id>);
    return { ...answered, value };
  };
}

/** What was to be deleted is not there any more: it was deleted by the request whose answer was lost. */
function isGone({ status }: ProblemError): boolean {
  return status === 404;
}

/** What any of the calls takes, once the compiler has seen that it fits. */
interface AnyInput extends Omit<CallInput, 'path' | 'query'> {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, QueryValue>>;
}

function toRequest(base: string, operation: Operation, input: AnyInput): OutgoingRequest {
  const { method, path, takesKey } = operation;
  const { body, ifMatch, idempotencyKey } = input;
  const isText = typeof body === 'string';
  const key = takesKey ? (idempotencyKey ?? crypto.randomUUID()) : undefined;
  return {
    method,
    url: new URL(`${base}${toPath(path, input.path ?? {})}${toQuery(input.query ?? {})}`),
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': isText ? 'application/yaml' : 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch === '*' ? '*' : `"${ifMatch}"` }),
    },
    body: body === undefined || isText ? body : JSON.stringify(body),
  };
}

function toPath(path: string, parts: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_braces, name: string) => {
    const part = parts[name] ?? '';
    if (part === '') throw new InvalidNameError(`${name} is empty`);
    if (name === 'node') return toNodePath(part);
    if (part === '.' || part === '..') throw new InvalidNameError(`${name} is ${part}, which is no name`);
    return encoded(part);
  });
}

function toQuery(query: Readonly<Record<string, QueryValue>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [value].flat().map((one) => `${name}=${encoded(String(one))}`);
  });
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** As signatures want it: everything but `A-Z a-z 0-9 - _ . ~`. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
