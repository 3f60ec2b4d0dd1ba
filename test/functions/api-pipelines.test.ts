import { describe, expect, it } from 'vitest';
import { createApi } from './api-client.ts';

const ETL = {
  name: 'etl',
  nodes: [
    { id: 'extract', params: { function: 'extract-fn' } },
    { id: 'load', dependsOn: ['extract'], params: { function: 'load-fn' } },
  ],
};

describe('PUT /v1/pipelines/{name}', () => {
  it('U9 answers 201 for the first revision, 200 for another one and for the same again', async () => {
    const { put, events } = createApi();
    const first = await put(ETL);
    const changed = await put({ ...ETL, description: 'Nightly load' });
    const again = await put({ description: 'Nightly load', nodes: ETL.nodes, name: 'etl' });
    expect([first.status, changed.status, again.status]).toEqual([201, 200, 200]);
    expect(first.body.revision).not.toBe(changed.body.revision);
    expect(again.body.revision).toBe(changed.body.revision);
    expect(first.headers['etag']).toBe(`"${first.body.revision}"`);
    expect(first.body.conditions).toMatchObject([
      { type: 'Ready', status: 'True', observedRevision: first.body.revision },
    ]);
    expect(events.map(({ source, detailType }) => `${source} ${detailType}`)).toContain('millrace.api PipelineChanged');
    expect(events.map(({ detail }) => detail)).toMatchObject([
      { schemaVersion: 1, pipeline: 'etl', revision: first.body.revision, conditions: [{ status: 'True' }] },
      { revision: changed.body.revision, paused: false },
    ]);
    const [one, two] = events.map(({ detail }) => (detail as { version: number }).version);
    expect(two).toBeGreaterThan(one ?? 0);
  });

  it('does not write again what is there already', async () => {
    const api = createApi();
    const first = await api.put(ETL);
    api.time.now += 5_000;
    const again = await api.put(ETL);
    expect(again.body).toEqual(first.body);
  });

  it('takes YAML, which gives the revision that the same JSON gives', async () => {
    const { put, call } = createApi();
    const json = await put(ETL);
    const text =
      'name: etl\nnodes:\n  - id: extract\n    params: { function: extract-fn }\n  - id: load\n    dependsOn: [extract]\n    params: { function: load-fn }\n';
    const yaml = await call('PUT', '/v1/pipelines/etl', {
      body: { text },
      headers: { 'content-type': 'application/yaml' },
    });
    expect(yaml.status).toBe(200);
    expect(yaml.body.revision).toBe(json.body.revision);
  });

  it('answers 422 with all errors at once and their places, and stores nothing', async () => {
    const { call, get } = createApi();
    const text =
      '{\n"name": "bad",\n"nodes": [\n{"id": "a", "dependsOn": ["nowhere"]},\n{"id": "a"}],\n"failfast": true}';
    const answer = await call('PUT', '/v1/pipelines/bad', { body: { text } });
    expect(answer.status).toBe(422);
    expect(answer.body.code).toBe('INVALID_DEFINITION');
    const found = answer.body.errors.map((error: { code: string; line: number }) => `${error.code}@${error.line}`);
    expect(found).toEqual(expect.arrayContaining(['UNKNOWN_DEPENDENCY@4', 'DUPLICATE_NODE_ID@5', 'UNKNOWN_FIELD@6']));
    expect((await get('/v1/pipelines/bad')).status).toBe(404);
    expect((await get('/v1/pipelines')).body.items).toEqual([]);
  });

  it('refuses a definition of another name than the address', async () => {
    const { call } = createApi();
    const answer = await call('PUT', '/v1/pipelines/other', { body: ETL });
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toMatchObject([{ path: 'name', value: 'etl', allowed: 'other' }]);
  });

  it('U11 honours If-Match', async () => {
    const { put, call } = createApi();
    const missing = await call('PUT', '/v1/pipelines/etl', { body: ETL, headers: { 'if-match': '*' } });
    expect([missing.status, missing.body.code]).toEqual([412, 'REVISION_MISMATCH']);
    const { revision } = (await put(ETL)).body;
    const next = { ...ETL, description: 'next' };
    const wrong = await call('PUT', '/v1/pipelines/etl', { body: next, headers: { 'if-match': '"0000000000000000"' } });
    expect(wrong.status).toBe(412);
    expect(wrong.body.detail).toContain(revision);
    const right = await call('PUT', '/v1/pipelines/etl', { body: next, headers: { 'if-match': `"${revision}"` } });
    expect(right.status).toBe(200);
  });

  it('keeps params with any key as data', async () => {
    const { call, get } = createApi();
    const text =
      '{"name":"odd","nodes":[{"id":"__proto__","params":{"function":"fn","payload":{"__proto__":{"polluted":true}}}}]}';
    expect((await call('PUT', '/v1/pipelines/odd', { body: { text } })).status).toBe(201);
    expect((await get('/v1/pipelines/odd')).text).toContain('{"__proto__":{"polluted":true}}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('makes one pipeline of several that are put at the same time', async () => {
    const { put, get } = createApi();
    const answers = await Promise.all([1, 2, 3].map((number) => put({ ...ETL, description: `number ${number}` })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
    expect((await get('/v1/pipelines/etl/revisions')).body.items).toHaveLength(3);
  });

  it('says that no engine can take a node', async () => {
    const { put } = createApi();
    const answer = await put({ name: 'spark', nodes: [{ id: 'train', engine: 'emr' }] });
    expect(answer.status).toBe(201);
    expect(answer.body.conditions).toMatchObject([
      {
        status: 'False',
        reason: 'NoEngine',
        message: 'no engines available to handle pipeline: "train" needs "emr"',
      },
    ]);
  });
});

describe('POST /v1/pipelines:validate', () => {
  it('counts nodes and edges, and stores nothing', async () => {
    const { post, get } = createApi();
    const answer = await post('/v1/pipelines:validate', ETL);
    expect(answer.body).toEqual({ valid: true, nodes: 2, edges: 1 });
    expect((await get('/v1/pipelines/etl')).status).toBe(404);
  });

  it('answers as a put would', async () => {
    const { post } = createApi();
    const answer = await post('/v1/pipelines:validate', {
      name: 'loop',
      nodes: [{ id: 'a', engine: 'emr', dependsOn: ['a'] }],
    });
    expect([answer.status, answer.body.errors[0].code]).toEqual([422, 'CYCLE']);
  });
});

describe('GET /v1/pipelines', () => {
  it('lists pipelines by name, page by page', async () => {
    const { put, get } = createApi();
    for (const name of ['c', 'a', 'b']) await put({ ...ETL, name });
    const first = await get('/v1/pipelines?limit=2');
    const second = await get(`/v1/pipelines?limit=2&cursor=${first.body.nextCursor}`);
    const names = [...first.body.items, ...second.body.items].map(({ name }: { name: string }) => name);
    expect(names).toEqual(['a', 'b', 'c']);
    expect(second.body.nextCursor).toBeUndefined();
  });

  it('gives a pipeline at its present revision or another one', async () => {
    const { put, get } = createApi();
    const first = (await put(ETL)).body;
    const second = (await put({ ...ETL, description: 'next' })).body;
    expect((await get('/v1/pipelines/etl')).body).toMatchObject({ revision: second.revision, paused: false });
    const old = await get(`/v1/pipelines/etl?revision=${first.revision}`);
    expect(old.body).toMatchObject({ revision: first.revision, definition: ETL });
    expect((await get('/v1/pipelines/etl?revision=none')).body.code).toBe('REVISION_NOT_FOUND');
    expect((await get('/v1/pipelines/nobody')).body.code).toBe('PIPELINE_NOT_FOUND');
    expect((await get('/v1/pipelines/%00')).body.code).toBe('PIPELINE_NOT_FOUND');
  });

  it('lists revisions, newest first, page by page', async () => {
    const { put, get, time } = createApi();
    const revisions: string[] = [];
    for (const description of ['one', 'two', 'three']) {
      time.now += 1000;
      revisions.unshift((await put({ ...ETL, description })).body.revision);
    }
    const first = await get('/v1/pipelines/etl/revisions?limit=2');
    const second = await get(`/v1/pipelines/etl/revisions?limit=2&cursor=${first.body.nextCursor}`);
    const found = [...first.body.items, ...second.body.items].map(({ revision }: { revision: string }) => revision);
    expect(found).toEqual(revisions);
    expect((await get('/v1/pipelines/nobody/revisions')).status).toBe(404);
  });
});
