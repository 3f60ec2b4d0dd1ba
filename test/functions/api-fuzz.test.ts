import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Api, createApi } from './api-client.ts';

const word = fc.oneof(
  fc.constantFrom(
    'v1',
    'runs',
    'pipelines',
    'pipelines:validate',
    'p',
    'nodes',
    'output',
    'attempts',
    'history',
    'explain',
    'stop',
  ),
  fc.constantFrom('a'.repeat(26), '__proto__', 'constructor', 'b64.', 'b64.YQ', '..', '%', '', '{runId}'),
  fc.string({ unit: 'binary', maxLength: 10 }),
);
const parameter = fc.tuple(
  fc.oneof(fc.constantFrom('limit', 'cursor', 'state', 'wait', 'tag', 'from', 'revision'), fc.string()),
  fc.oneof(fc.constantFrom('1', '0', 'FAILED', 'a:b', '2026-01-01T00:00:00Z'), fc.string({ unit: 'binary' })),
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
    fc.array(word, { maxLength: 7 }).map((words) => `/${words.join('/')}`),
    fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => `/v1/runs/RUN/${words.join('/')}`),
    fc.constantFrom(
      '/v1/pipelines/p',
      '/v1/pipelines/p/runs',
      '/v1/pipelines:validate',
      '/v1/runs/RUN/stop',
      '/v1/runs',
    ),
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
    expect((await api.get(`/v1/runs/${id}`)).body.state).toBe('SUCCEEDED');
  });
});
