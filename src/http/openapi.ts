/** The OpenAPI 3.1 document, made from the routes and the very schemas that check requests. */
import * as z from 'zod';
import type { Json, JsonObject } from '#domain/json.ts';
import { PROBLEMS, type ProblemCode } from './problem.ts';
import { problemSchema } from './problem-schema.ts';
import type { Answer, QueryParameter, Route } from './route.ts';

/** Version of the API that the document describes. */
const API_VERSION = '1';

/** Problems that any address may answer. */
const COMMON_PROBLEMS: readonly ProblemCode[] = ['INVALID_PARAMETER', 'THROTTLED', 'INTERNAL_ERROR'];

/** Statuses of problems that pass by themselves. */
const PASSING: ReadonlySet<number> = new Set([429, 503]);
const RETRY_AFTER = { 'Retry-After': 'Seconds after which the same request may be made again.' };

/** Builds the document. */
export function buildOpenApi(routes: readonly Route[]): JsonObject {
  const components = new Map<string, Json>();
  const paths = new Map<string, JsonObject>();
  for (const route of routes) {
    paths.set(route.path, { ...paths.get(route.path), [route.method.toLowerCase()]: toOperation(route, components) });
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Millrace',
      version: API_VERSION,
      description: 'Durable DAG pipelines in your own AWS account. Problems are RFC 9457; lists are paged by cursors.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths: Object.fromEntries(paths),
    components: { schemas: Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))) },
  };
}

type Components = Map<string, Json>;

function toOperation(route: Route, components: Components): JsonObject {
  const parameters = [...pathParameters(route), ...headerParameters(route), ...queryParameters(route, components)];
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: {
        required: route.body.required,
        content: contentOf(route.body.mediaTypes, toSchema(route.body.schema, components)),
      },
    }),
    responses: { ...answersOf(route, components), ...problemsOf(route, components) },
  };
}

function pathParameters(route: Route): Json[] {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  return names.map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    ...(name === 'node' && {
      description:
        'Id of a node; `b64.` and the base64url of its UTF-8 bytes, unless it is of `A-Z a-z 0-9 . _ -` alone.',
    }),
  }));
}

function headerParameters(route: Route): Json[] {
  return Object.entries(route.headers ?? {}).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }));
}

function queryParameters(route: Route, components: Components): Json[] {
  return Object.entries(route.query ?? {}).map(([name, { schema, description }]: [string, QueryParameter]) => ({
    name,
    in: 'query',
    required: false,
    description,
    schema: toSchema(schema, components),
  }));
}

function answersOf(route: Route, components: Components): { [status: string]: Json } {
  const answers = Object.entries(route.answers) as [string, Answer][];
  return Object.fromEntries(
    answers.map(([status, { description, schema, headers }]) => [
      status,
      {
        description,
        ...(headers && { headers: headersOf(headers) }),
        ...(schema && { content: contentOf(['application/json'], toSchema(schema, components)) }),
      },
    ]),
  );
}

function headersOf(headers: Readonly<Record<string, string>>): Json {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );
}

function problemsOf(route: Route, components: Components): { [status: string]: Json } {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of new Set([...route.problems, ...COMMON_PROBLEMS])) {
    const { status } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const content = contentOf(['application/problem+json'], toSchema(problemSchema, components));
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, codes]) => [
        status,
        { description: codes.join(', '), ...(PASSING.has(status) && { headers: headersOf(RETRY_AFTER) }), content },
      ]),
  );
}

function contentOf(mediaTypes: readonly string[], schema: Json): Json {
  return Object.fromEntries(mediaTypes.map((type) => [type, { schema }]));
}

/** A schema as JSON Schema 2020-12, its named parts among the components. */
function toSchema(schema: z.ZodType, components: Components): Json {
  const {
    $schema: _dialect,
    $defs,
    ...own
  } = z.toJSONSchema(schema, { target: 'draft-2020-12', override: withoutTimePattern });
  const named = own as { id?: string };
  for (const [name, part] of Object.entries($defs ?? {})) components.set(name, rereferenced(withoutId(part)));
  if (named.id === undefined) return rereferenced(own);
  components.set(named.id, rereferenced(withoutId(own)));
  return { $ref: `#/components/schemas/${named.id}` };
}

function withoutId(schema: object): object {
  const { id: _name, ...rest } = schema as { id?: string };
  return rest;
}

function rereferenced(schema: object): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
}

/** A date-time has a pattern of 300 characters that its format says already. */
function withoutTimePattern({ jsonSchema }: { jsonSchema: { format?: string; pattern?: string } }): void {
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
}
