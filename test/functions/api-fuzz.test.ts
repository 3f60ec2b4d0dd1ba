import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ROUTES } from '#http/routes.ts';
import { type Api, createApi } from './api-client.ts';

const part = fc.oneof(
  fc.constantFrom(
    'RUN',
    'p',
    'a',
    'a'.repeat(26),
    '__proto__',
    'constructor',
    'b64.',
    'b64.YQ',
    '..',
    '%',
    '',
    '{runId}',
  ),
  fc.string({ unit: 'binary', maxLength: 10 }),
);
/** Words of the addresses that there are, and others. */
const word = fc.oneof(fc.constantFrom(...new Set(ROUTES.flatMap(({ path }) => path.split('/').slice(1)))), part);
/** The address of a route, with anything in the place of its parts. */
const routePath = fc
  .tuple(fc.constantFrom(...ROUTES), fc.array(part, { minLength: 3, maxLength: 3 }))
  .map(([{ path }, parts]) => {
    const left = parts.values();
    return path.replaceAll(/\{\w+\}/g, () => left.next().value ?? '');
  });
const parameter = fc.tuple(
  fc.oneof(fc.constantFrom(...new Set(ROUTES.flatMap(({ query }) => Object.keys(query ?? {})))), fc.string()),
  fc.oneof(fc.constantFrom('1', '0', 'true', 'FAILED', 'a:b', '2026-01-01T00:00:00Z'), fc.string({ unit: 'binary' })),
);
const body = fc.oneof(
  fc.json({ maxDepth: 6 }),
  fc.string({ unit: 'binary' }),
  fc.json({ maxDepth: 3 }).map((input) => `{"input":${input}}`),
  fc.json({ maxDepth: 4 }).map((nodes) => `{"name":"p","nodes":[${nodes}]}`),
);
const call = fc.record({
  method: fc.constantFrom('GET', 'PUT', 'POST', 'DELETE', 'HEAD', 'PATCH', 'OPTIONS'),
  path: fc.oneof(
    routePath,
    fc.array(word, { maxLength: 7 }).map((words) => `/v1/${words.join('/')}`),
  ),
  query: fc.array(parameter, { maxLength: 3 }),
  body,
  type: fc.constantFrom('application/json', 'application/yaml', 'text/plain', ''),
  key: fc.option(fc.string({ unit: 'binary' }), { nil: undefined }),
});

async function withRun(): Promise<{ api: Api; id: string }> {
  const api = createApi();
  await api.put({ name: 'p', nodes: [{ id: 'a', params: { function: 'fn' } }] });
  const { id } = (await api.post('/v1/pipelines/p/runs', {})).body;
  await api.settle();
  return { api, id };
}

describe('the API under any request', () => {
  it('never fails inside, and answers nothing that its schemas do not describe', async () => {
    const { api, id } = await withRun();
    await fc.assert(
      fc.asyncProperty(call, async ({ method, path, query, body: text, type, key }) => {
        const address = path.replace('RUN', id).split('/').map(encodeURIComponent).join('/');
        const headers = { 'content-type': type, ...(key !== undefined && { 'idempotency-key': key }) };
        const answer = await api.call(method, `${address}?${new URLSearchParams(query)}`, { body: { text }, headers });
        expect(answer.status, `${method} ${address}`).toBeLessThan(500);
      }),
      { numRuns: 1_500 },
    );
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect((await api.get('/v1/runs')).status).toBe(200);
  });
});
