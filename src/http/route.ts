/** A route: where it is, what it takes, what it answers; the handlers and the OpenAPI document are made from it. */
import type * as z from 'zod';
import { nearMiss, shownValue } from '#domain/definition-errors.ts';
import type { Logs } from '#ports/index.ts';
import type { LiveStore } from '#ports/live.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import type { ApiRequest, ApiResponse } from './api-message.ts';
import { ApiProblem, type FieldProblem, type ProblemCode } from './problem.ts';

/** What the API works with. */
export interface ApiDeps extends PassDeps {
  /** Resolves after so many milliseconds. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly logs: Logs;
  /** Where live updates are, and who keeps their tickets. @default there are none */
  readonly live?: LiveEntrance;
}

/** The way to live updates. */
export interface LiveEntrance {
  /** Address of the WebSocket. */
  readonly url: string;
  readonly tickets: Pick<LiveStore, 'putTicket'>;
}

/** A query parameter. */
export interface QueryParameter<T = unknown> {
  /** Of the text; of the list of texts where it is repeatable. */
  readonly schema: z.ZodType<T>;
  readonly description: string;
  readonly repeatable?: boolean;
}

/** The query parameters of a route, by name. */
export type QueryParameters = Readonly<Record<string, QueryParameter>>;

/** The values of query parameters. */
export type QueryValues<Q extends QueryParameters> = {
  readonly [Name in keyof Q]: (Q[Name] extends QueryParameter<infer T> ? T : never) | undefined;
};

/** One call of a route. */
export interface Call<Q extends QueryParameters = QueryParameters> {
  readonly deps: ApiDeps;
  readonly request: ApiRequest;
  readonly query: QueryValues<Q>;
  /** The part of the path that the pattern calls so. */
  readonly pathPart: (name: string) => string;
}

/** What a route answers with a status. */
export interface Answer {
  readonly description: string;
  /** Of a JSON body; absent where there is none. */
  readonly schema?: z.ZodType;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A route. */
export interface Route<Q extends QueryParameters = QueryParameters> {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** `/v1/runs/{runId}`; a part in braces matches any one segment. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly query?: Q;
  /** Request headers beyond those of HTTP itself, with what they are for. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { readonly mediaTypes: readonly string[]; readonly schema: z.ZodType; readonly required: boolean };
  readonly answers: Readonly<Record<number, Answer>>;
  readonly problems: readonly ProblemCode[];
  readonly handle: (call: Call<Q>) => Promise<ApiResponse>;
}

/** Defines a route; its handler sees its own query parameters. */
export function defineRoute<Q extends QueryParameters = Record<never, never>>(route: Route<Q>): Route {
  return route as unknown as Route;
}

/**
 * Reads a query by the parameters of a route.
 * @throws ApiProblem INVALID_PARAMETER, also for a parameter that the route does not have
 */
export function readQuery<Q extends QueryParameters>(query: URLSearchParams, parameters: Q): QueryValues<Q> {
  const errors: FieldProblem[] = [];
  const names = Object.keys(parameters);
  for (const name of new Set(query.keys())) {
    if (!Object.hasOwn(parameters, name)) errors.push(unknownParameter(name, names));
  }
  const values = names.map((name) => {
    const { schema, repeatable } = parameters[name] as QueryParameter;
    const texts = query.getAll(name);
    if (texts.length === 0) return [name, undefined] as const;
    if (texts.length > 1 && !repeatable) {
      errors.push({ path: name, code: 'INVALID_FIELD', message: 'is given more than once' });
      return [name, undefined] as const;
    }
    const value = repeatable ? texts : texts[0];
    const checked = schema.safeParse(value);
    if (checked.success) return [name, checked.data] as const;
    const message = checked.error.issues.map((issue) => issue.message).join('; ');
    errors.push({ path: name, code: 'INVALID_FIELD', message, value: shownValue(value) });
    return [name, undefined] as const;
  });
  const first = errors[0];
  if (first) throw new ApiProblem('INVALID_PARAMETER', `${first.path}: ${first.message}.`, { errors });
  return Object.fromEntries(values) as QueryValues<Q>;
}

function unknownParameter(name: string, known: readonly string[]): FieldProblem {
  const suggestion = nearMiss(name, known);
  return {
    path: name,
    code: 'UNKNOWN_FIELD',
    message: 'is no parameter of this address',
    allowed: known.length > 0 ? known.join(' | ') : 'no parameters',
    ...(suggestion && { suggestion }),
  };
}
