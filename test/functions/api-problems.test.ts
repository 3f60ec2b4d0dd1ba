import { describe, expect, it } from 'vitest';
import { type Answer, createApi, type Sent } from './api-client.ts';

const ONE = { name: 'one', nodes: [{ id: 'only', params: { function: 'fn' } }] };
const RUNS = '/v1/pipelines/one/runs';

async function startWith(sent: Sent): Promise<Answer> {
  const api = createApi();
  await api.put(ONE);
  const answer = await api.call('POST', RUNS, sent);
  if (answer.status >= 400) expect((await api.get('/v1/runs')).body.items, 'nothing is stored').toEqual([]);
  return answer;
}

describe('addresses', () => {
  it('answers 404 for what is at no route', async () => {
    const { call } = createApi();
    const addresses = [
      '/',
      '/v1',
      '/v2/runs',
      '/v1/runs/',
      '/v1//runs',
      '/v1/pipelines/x/nowhere',
      '/v1/nodes',
      '/V1/runs',
    ];
    for (const address of addresses) {
      const answer = await call('POST', address, { body: {} });
      expect(answer.body.code, address).toBe('UNKNOWN_ROUTE');
    }
  });

  it('answers 405 with the methods that an address takes', async () => {
    const { call } = createApi();
    const runs = await call('DELETE', '/v1/runs');
    expect([runs.status, runs.headers['allow']]).toEqual([405, 'GET, HEAD']);
    const pipeline = await call('POST', '/v1/pipelines/one', { body: {} });
    expect(pipeline.headers['allow']).toBe('PUT, GET, DELETE, HEAD');
    expect((await call('GET', '/v1/pipelines:validate')).headers['allow']).toBe('POST');
  });

  it('answers HEAD as GET, without the body', async () => {
    const { call } = createApi();
    const answer = await call('HEAD', '/v1/health');
    expect(answer).toMatchObject({ status: 200, text: '' });
  });

  it('refuses query parameters that an address does not have, or that are not right', async () => {
    const { get } = createApi();
    const wrong = {
      '/v1/runs?sate=FAILED': 'sate',
      '/v1/runs?state=failed': 'state',
      '/v1/runs?limit=0': 'limit',
      '/v1/runs?limit=1001': 'limit',
      '/v1/runs?limit=ten': 'limit',
      '/v1/runs?limit=1&limit=2': 'limit',
      '/v1/runs?tag=team': 'tag',
      '/v1/runs?from=yesterday': 'from',
      '/v1/pipelines?limit=-1': 'limit',
      '/v1/runs/x?wait=21': 'wait',
      '/v1/runs/x?wait=1.5': 'wait',
      '/v1/health?x=1': 'x',
    };
    for (const [address, path] of Object.entries(wrong)) {
      const answer = await get(address);
      expect([answer.status, answer.body.code, answer.body.errors[0].path], address).toEqual([
        400,
        'INVALID_PARAMETER',
        path,
      ]);
    }
    expect((await get('/v1/runs?sate=FAILED')).body.errors[0].suggestion).toBe('state');
  });
});

describe('bodies', () => {
  it('refuses malformed JSON and says where', async () => {
    for (const text of ['{', '{"input":}', '{"input":1}x', "{'input':1}", 'nonsense']) {
      const answer = await startWith({ body: { text } });
      expect([answer.status, answer.body.code], text).toEqual([400, 'INVALID_JSON']);
      expect(answer.body.errors[0].line).toBe(1);
    }
  });

  it('refuses equal keys, integers that lose digits, and halves of characters', async () => {
    const bodies = {
      '{"input":{"a":1,"a":2}}': 'DUPLICATE_KEY',
      '{"input":12345678901234567890}': 'NUMBER_OUT_OF_RANGE',
      '{"input":"\\ud800"}': 'INVALID_UNICODE',
    };
    for (const [text, code] of Object.entries(bodies)) {
      const answer = await startWith({ body: { text } });
      expect([answer.status, answer.body.code], text).toEqual([400, code]);
    }
  });

  it('refuses more than 100 levels, however many there are', async () => {
    for (const depth of [101, 50_000]) {
      const text = `{"input":${'['.repeat(depth)}${']'.repeat(depth)}}`;
      expect((await startWith({ body: { text } })).body.code).toBe('TOO_DEEP');
    }
    const text = `{"input":${'['.repeat(99)}${']'.repeat(99)}}`;
    expect((await startWith({ body: { text } })).status).toBe(201);
  });

  it('refuses keys that would change prototypes, and changes none', async () => {
    const texts = [
      '{"input":{"__proto__":{"polluted":true}}}',
      '{"__proto__":{"input":1}}',
      '{"tags":{"__proto__":"x"}}',
      '{"input":[{"constructor":{"prototype":{"polluted":true}}}]}',
    ];
    for (const text of texts) {
      const answer = await startWith({ body: { text } });
      expect([answer.status, answer.body.code], text).toEqual([400, 'FORBIDDEN_KEY']);
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect((await startWith({ body: { text: '{"input":{"constructor":"Ferrari","prototype":1}}' } })).status).toBe(201);
  });

  it('refuses bytes that are not UTF-8', async () => {
    const base64 = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]).toString('base64');
    expect((await startWith({ body: { base64 } })).body.code).toBe('INVALID_UNICODE');
    const good = Buffer.from('{"input":"naïve"}').toString('base64');
    expect((await startWith({ body: { base64: good } })).body.input).toBe('naïve');
  });

  it('refuses types other than JSON', async () => {
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/yaml',
      'application/json; charset=latin1',
    ];
    for (const type of types) {
      const answer = await startWith({ body: {}, headers: { 'content-type': type } });
      expect([answer.status, answer.headers['accept']], type).toEqual([415, 'application/json']);
    }
    const right = await startWith({ body: {}, headers: { 'content-type': 'Application/JSON; charset="UTF-8"' } });
    expect(right.status).toBe(201);
  });

  it('refuses more than 1 MB, and of a definition more than 4 MB', async () => {
    const input = (bytes: number) => ({ text: `{"input":"${'x'.repeat(bytes - 12)}"}` });
    expect((await startWith({ body: input(1024 * 1024) })).status).toBe(201);
    const large = await startWith({ body: input(1024 * 1024 + 1) });
    expect([large.status, large.body.code]).toEqual([413, 'BODY_TOO_LARGE']);
    const { call } = createApi();
    const definition = (bytes: number) => {
      const text = JSON.stringify({ ...ONE, description: '' });
      return { text: text.replace('"description":""', `"description":"${'x'.repeat(bytes - text.length)}"`) };
    };
    expect((await call('PUT', '/v1/pipelines/one', { body: definition(4 * 1024 * 1024) })).status).toBe(201);
    expect((await call('PUT', '/v1/pipelines/one', { body: definition(4 * 1024 * 1024 + 1) })).status).toBe(413);
  });

  it('answers a malformed definition with 400, in JSON and YAML', async () => {
    const { call } = createApi();
    const json = await call('PUT', '/v1/pipelines/one', { body: { text: '{"name":' } });
    expect([json.status, json.body.code]).toEqual([400, 'INVALID_JSON']);
    const headers = { 'content-type': 'application/yaml' };
    const yaml = await call('PUT', '/v1/pipelines/one', { body: { text: 'name: [one' }, headers });
    expect([yaml.status, yaml.body.code]).toEqual([400, 'INVALID_YAML']);
    const empty = await call('PUT', '/v1/pipelines/one');
    expect([empty.status, empty.body.code]).toEqual([400, 'INVALID_JSON']);
  });
});

describe('what goes wrong inside', () => {
  it('tells no detail to the client, and all of it to the log', async () => {
    const api = createApi();
    api.deps.runs.listRuns = async () => {
      throw new Error('secret detail');
    };
    const answer = await api.get('/v1/runs');
    expect([answer.status, answer.body.code]).toEqual([500, 'INTERNAL_ERROR']);
    expect(answer.text).not.toContain('secret');
    expect(api.lines).toMatchObject([
      {
        level: 'error',
        message: 'request',
        fields: { status: 500, requestId: 'request-1', error: { message: 'secret detail' } },
      },
    ]);
  });

  it('answers 429 with Retry-After where AWS throttles', async () => {
    const api = createApi();
    api.deps.runs.listRuns = async () => {
      throw Object.assign(new Error('slow down'), { name: 'ProvisionedThroughputExceededException' });
    };
    const answer = await api.get('/v1/runs');
    expect([answer.status, answer.body.code, answer.headers['retry-after']]).toEqual([429, 'THROTTLED', '1']);
  });

  it('answers 503 with Retry-After where others keep changing what it changes', async () => {
    const api = createApi();
    api.deps.pipelines.commitHead = async () => 'conflict';
    const put = await api.put(ONE);
    expect([put.status, put.body.code, put.headers['retry-after']]).toEqual([503, 'BUSY', '1']);
    const other = createApi(() => undefined);
    await other.put(ONE);
    const { id } = (await other.post(RUNS)).body;
    other.deps.runs.commitRun = async () => 'conflict';
    expect((await other.post(`/v1/runs/${id}/stop`)).body.code).toBe('BUSY');
  });

  it('writes one line a request', async () => {
    const api = createApi();
    await api.call('GET', '/v1/health', { by: 'ada' });
    await api.get('/v1/nowhere');
    expect(api.lines).toMatchObject([
      { level: 'info', fields: { method: 'GET', path: '/v1/health', status: 200, by: 'ada' } },
      { level: 'info', fields: { path: '/v1/nowhere', status: 404, code: 'UNKNOWN_ROUTE' } },
    ]);
  });
});

describe('the API about itself', () => {
  it('is healthy while it answers', async () => {
    const { get, time } = createApi();
    const answer = await get('/v1/health');
    expect(answer.body).toEqual({ status: 'ok', installation: 'millrace', time: new Date(time.now).toISOString() });
  });

  it('gives its OpenAPI document', async () => {
    const { get } = createApi();
    const { body } = await get('/v1/openapi.json');
    expect(body.openapi).toBe('3.1.0');
    expect(Object.keys(body.paths)).toContain('/v1/runs/{runId}/nodes/{node}/attempts');
  });
});
