/**
 * What every route is tried with. Routes come from the list of routes, so a new one is tried by itself; it needs a line
 * here only where its path has a part of a new name, or its body a field that is required.
 */
import { expect } from 'vitest';
import type { Json, JsonObject } from '#domain/json.ts';
import { buildOpenApi } from '#http/openapi.ts';
import type { Route } from '#http/route.ts';
import { ROUTES } from '#http/routes.ts';
import { type Answer, type Api, createApi, type Sent } from './api-client.ts';

/** The nodes of the pipeline that is there: a map that is over, and a node whose attempt goes on. */
const DEFINITION = {
  name: 'there',
  nodes: [
    { id: 'over', map: { items: [1, 2, 3] }, params: { function: 'fn' } },
    { id: 'goes on', dependsOn: ['over'], params: { function: 'fn' } },
  ],
};

/** A body that a route takes; `{}` where it is not named. */
const BODIES: Readonly<Record<string, Json>> = {
  putPipeline: DEFINITION,
  validatePipeline: DEFINITION,
  putEngine: { stateMachineArn: 'arn:aws:states:eu-central-1:111122223333:stateMachine:millrace-there' },
  putPool: { slots: 3 },
  markNode: { state: 'SKIPPED' },
  rerun: { from: 'failed', revision: 'original' },
  answerNode: { approve: true },
  reportProgress: { token: 'none', progress: 0.5 },
};

/** An installation with something at every address, and a client that holds each answer against the document. */
export async function createTriedApi() {
  const api = createApi((node) => (node === 'over' ? { status: 'SUCCEEDED', output: '{"ok":true}' } : undefined));
  await api.put(DEFINITION);
  await api.put({ ...DEFINITION, name: 'other' });
  await api.call('PUT', '/v1/engines/there', { body: BODIES['putEngine'] as Json });
  await api.call('PUT', '/v1/pools/there', { body: BODIES['putPool'] as Json });
  const started: string[] = [];
  for (let count = 0; count < 3; count++) {
    started.push((await api.post('/v1/pipelines/there/runs', { tags: { count: String(count) } })).body.id);
    await api.settle();
  }
  const parts: Readonly<Record<string, string>> = { name: 'there', runId: started[0] as string, node: 'over' };
  return { api, parts, ...tries(api, parts) };
}

/** An installation that is tried. */
export type TriedApi = Awaited<ReturnType<typeof createTriedApi>>;

function tries(api: Api, parts: Readonly<Record<string, string>>) {
  const at = (route: Route, replaced: Readonly<Record<string, string>> = {}) =>
    route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => replaced[name] ?? parts[name] ?? 'unknown');
  /** Calls a route, by default with a body that it takes. */
  const tryRoute = async (route: Route, address = at(route), sent: Sent = bodyOf(route)): Promise<Answer> => {
    const answer = await api.call(route.method, address, sent);
    expectDocumented(route, answer);
    return answer;
  };
  /** All that can be read, as one text: it stays the same where nothing reached the store. */
  const readAll = async (): Promise<string> => {
    const texts = [];
    for (const route of ROUTES.filter(({ method }) => method === 'GET')) texts.push((await tryRoute(route)).text);
    return [...texts, api.rings.length, api.events.length].join('\n');
  };
  return { at, tryRoute, readAll };
}

function bodyOf(route: Route): Sent {
  return route.body ? { body: BODIES[route.operationId] ?? {} } : {};
}

const document = buildOpenApi(ROUTES) as { readonly paths: { readonly [path: string]: JsonObject } };

interface DocumentedAnswer {
  readonly description: string;
  readonly headers?: JsonObject;
}

/** Whether the document of the API says that the route answers so. */
function expectDocumented(route: Route, { status, body, headers }: Answer): void {
  const what = `${route.method} ${route.path} answers ${status} ${body?.code ?? ''}`;
  expect(status, what).toBeLessThan(500);
  for (const value of Object.values(headers)) expect(value, what).toMatch(/^[\x20-\x7e]*$/);
  if (body?.code === 'UNKNOWN_ROUTE' || body?.code === 'METHOD_NOT_ALLOWED') return;
  const operation = document.paths[route.path]?.[route.method.toLowerCase()] as JsonObject;
  const answers = operation['responses'] as unknown as { readonly [status: string]: DocumentedAnswer };
  expect(Object.keys(answers), what).toContain(String(status));
  const documented = ['Content-Type', 'X-Request-Id', ...Object.keys(answers[status]?.headers ?? {})];
  if (status < 400)
    expect(
      documented.map((name) => name.toLowerCase()),
      what,
    ).toEqual(expect.arrayContaining(Object.keys(headers)));
  if (status >= 400) expect(answers[status]?.description.split(', '), what).toContain(body.code);
}
