import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createClient, type MillraceClient, type PipelineDefinition } from '#client/index.ts';
import { OPERATIONS, type OperationId } from '#client/operations.ts';
import { createApi } from '../../functions/api-client.ts';
import { collect } from './listening-server.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
}

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}

const text = await readFile(join(import.meta.dirname, '../../../schemas/openapi.json'), 'utf8');
const { paths } = JSON.parse(text) as { readonly paths: Record<string, Record<string, Described>> };
const described = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
);

const namesOf = (parameters: readonly Parameter[] = [], place: Parameter['in'] = 'query') =>
  parameters.filter((parameter) => parameter.in === place).map(({ name }) => name);

/** Every method of the client, once; the address tells which operation it is. */
const METHODS: Readonly<Record<OperationId, (client: MillraceClient) => unknown>> = {
  putPipeline: ({ pipelines }) => pipelines.put('p', { name: 'p', nodes: [] }, { ifMatch: 'r' }),
  validatePipeline: ({ pipelines }) => pipelines.validate('name: p'),
  listPipelines: ({ pipelines }) => pipelines.list().all(),
  getPipeline: ({ pipelines }) => pipelines.get('p', { revision: 'r' }),
  listRevisions: ({ pipelines }) => pipelines.revisions('p').all(),
  pausePipeline: ({ pipelines }) => pipelines.pause('p'),
  resumePipeline: ({ pipelines }) => pipelines.resume('p'),
  deletePipeline: ({ pipelines }) => pipelines.delete('p', { force: true }),
  startBackfill: ({ pipelines }) => pipelines.backfill('p', { from: 'a', to: 'b' }),
  startRun: ({ runs }) => runs.start('p', { input: 1 }),
  listRuns: ({ runs }) => runs.list({ state: ['FAILED'], tags: { a: 'b' } }).page(),
  getRun: ({ runs }) => runs.get('r', { waitSeconds: 1 }),
  getRunOutput: ({ runs }) => runs.output('r'),
  getHistory: ({ runs }) => runs.history('r').page(),
  explainRun: ({ runs }) => runs.explain('r').page(),
  stopRun: ({ runs }) => runs.stop('r'),
  pauseRun: ({ runs }) => runs.pause('r'),
  resumeRun: ({ runs }) => runs.resume('r'),
  deleteRun: ({ runs }) => runs.delete('r'),
  rerun: ({ runs }) => runs.rerun('r', { from: 'all', revision: 'latest' }),
  listNodes: ({ nodes }) => nodes.list('r').page(),
  getNode: ({ nodes }) => nodes.get('r', 'a/b'),
  getOutput: ({ nodes }) => nodes.output('r', 'n', { item: 1 }),
  listAttempts: ({ nodes }) => nodes.attempts('r', 'n').page(),
  listItems: ({ nodes }) => nodes.items('r', 'n').page(),
  getLogs: ({ nodes }) => nodes.logs('r', 'n', { attempt: 1 }).page(),
  markNode: ({ nodes }) => nodes.mark('r', 'n', { state: 'SKIPPED' }),
  answerNode: ({ nodes }) => nodes.answer('r', 'n', { approve: true }, { item: 2 }),
  reportProgress: ({ nodes }) => nodes.progress('r', 'n', { token: 't', progress: 1 }),
  putEngine: ({ engines }) => engines.put('e', { stateMachineArn: 'arn' }),
  getEngine: ({ engines }) => engines.get('e'),
  removeEngine: ({ engines }) => engines.remove('e'),
  listEngines: ({ engines }) => engines.list().page(),
  drainEngine: ({ engines }) => engines.drain('e'),
  heartbeatEngine: ({ engines }) => engines.heartbeat('e'),
  putPool: ({ pools }) => pools.put('p', 3),
  getPool: ({ pools }) => pools.get('p'),
  listPools: ({ pools }) => pools.list().page(),
  createLiveTicket: (client) => client.liveTicket(),
  getHealth: (client) => client.health(),
  getOpenApi: (client) => client.openApi(),
};

/** What a method sends, with an answer that is none. */
async function sentBy(method: (client: MillraceClient) => unknown) {
  const sent: Request[] = [];
  const client = createClient({
    url: 'https://example.test/stage/',
    retries: false,
    fetch: async (input, init) => {
      sent.push(new Request(input, init));
      return new Response('{"message":"Not Found"}', { status: 404 });
    },
  });
  await expect(method(client)).rejects.toMatchObject({ code: 'HTTP_404' });
  return sent;
}

describe('the calls of the client', () => {
  it('are those of schemas/openapi.json, each with its address, query and key', () => {
    const ours = Object.entries(OPERATIONS).map(([operationId, { method, path, query, ...rest }]) => ({
      operationId,
      method,
      path,
      query: [...query].sort(),
      takesKey: 'takesKey' in rest,
      answers: 'answer' in rest,
    }));
    const theirs = described.map(({ operationId, method, path, parameters, responses }) => ({
      operationId,
      method,
      path,
      query: namesOf(parameters).sort(),
      takesKey: namesOf(parameters, 'header').includes('Idempotency-Key'),
      answers: Object.entries(responses).some(([status, { content }]) => status < '300' && content !== undefined),
    }));
    const byId = (a: { operationId: string }, b: { operationId: string }) => (a.operationId < b.operationId ? -1 : 1);
    expect(ours.sort(byId)).toEqual(theirs.sort(byId));
  });

  it.each(Object.keys(OPERATIONS) as OperationId[])('%s has a method that sends it', async (id) => {
    const [request, ...more] = await sentBy(METHODS[id]);
    expect(more).toEqual([]);
    const { method, path } = OPERATIONS[id];
    expect(request?.method).toBe(method);
    const pattern = path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.');
    expect(new URL(request?.url ?? '').pathname).toMatch(new RegExp(`^/stage${pattern}$`));
  });

  it('encode what they are given', async () => {
    const [node] = await sentBy(({ nodes }) => nodes.get('a b', 'größe/1'));
    expect(node?.url).toBe('https://example.test/stage/v1/runs/a%20b/nodes/b64.Z3LDtsOfZS8x');
    const [list] = await sentBy(({ runs }) =>
      runs.list({ state: ['FAILED', 'ABORTED'], tags: { day: "it's + 1" }, limit: 5 }).page('c='),
    );
    expect(list?.url).toBe(
      'https://example.test/stage/v1/runs?limit=5&state=FAILED&state=ABORTED&tag=day%3Ait%27s%20%2B%201&cursor=c%3D',
    );
    const [put] = await sentBy(METHODS.putPipeline);
    expect(put?.headers.get('if-match')).toBe('"r"');
    const [yaml] = await sentBy(METHODS.validatePipeline);
    expect([yaml?.headers.get('content-type'), await yaml?.text()]).toEqual(['application/yaml', 'name: p']);
  });

  it.each([
    ['', 'name is empty'],
    ['.', 'name is ., which is no name'],
    ['..', 'name is .., which is no name'],
  ])('do not go to another address for the name %j', async (name, message) => {
    const client = createClient({ url: 'https://example.test', fetch: () => expect.fail('nothing is to be sent') });
    await expect(client.pipelines.delete(name)).rejects.toMatchObject({ code: 'INVALID_NAME', message });
  });
});

/** A client of the API in this process. */
function clientOfApi(api: ReturnType<typeof createApi>) {
  return createClient({
    url: 'https://example.test',
    retries: false,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const { pathname, search } = new URL(request.url);
      const body = await request.text();
      const sent = { headers: Object.fromEntries(request.headers), ...(body !== '' && { body: { text: body } }) };
      const answer = await api.call(request.method, `${pathname}${search}`, sent);
      return new Response(answer.status === 204 ? null : answer.text, answer);
    },
  });
}

describe('a client of the real API', () => {
  const definition: PipelineDefinition = {
    name: 'etl',
    nodes: [
      { id: 'a/b', params: { function: 'fn' } },
      { id: 'map', dependsOn: ['a/b'], map: { items: [1, 2, 3] }, params: { function: 'fn' } },
    ],
  };

  it('puts, starts, reads and deletes', async () => {
    const api = createApi();
    const client = clientOfApi(api);
    expect(await client.pipelines.validate('name: etl\nnodes: [{id: a, params: {function: f}}]')).toEqual({
      valid: true,
      nodes: 1,
      edges: 0,
    });
    const put = await client.pipelines.put('etl', definition);
    expect(put.definition.nodes.map(({ id }) => id)).toEqual(['a/b', 'map']);
    await expect(client.pipelines.put('etl', definition, { ifMatch: 'another' })).rejects.toMatchObject({
      code: 'REVISION_MISMATCH',
    });
    const run = await client.runs.start('etl', { input: { day: 1 }, tags: { team: 'data' } }, { idempotencyKey: 'k' });
    expect(
      await client.runs.start('etl', { input: { day: 1 }, tags: { team: 'data' } }, { idempotencyKey: 'k' }),
    ).toEqual(run);
    await api.untilOver(run.id);
    expect(await client.runs.untilOver(run.id)).toMatchObject({ state: 'SUCCEEDED', input: { day: 1 } });
    expect(await client.nodes.get(run.id, 'a/b')).toMatchObject({ state: 'SUCCEEDED', output: { ok: true } });
    expect(await client.nodes.output(run.id, 'a/b')).toEqual({ ok: true });
    expect(await client.nodes.items(run.id, 'map', { limit: 2 }).all()).toHaveLength(3);
    expect((await client.runs.explain(run.id).page()).run).toMatchObject({ id: run.id, state: 'SUCCEEDED' });
    expect(await client.runs.stop(run.id)).toMatchObject({ outcome: 'ALREADY_FINISHED' });
    expect((await client.runs.list({ tags: { team: 'data' } }).all()).map(({ id }) => id)).toEqual([run.id]);
    const looks = await collect(client.runs.follow(run.id, { history: true }));
    expect(looks).toHaveLength(1);
    expect(looks[0]?.entries.map(({ state }) => state)).toContain('SUCCEEDED');
    await client.runs.delete(run.id);
    await expect(client.runs.get(run.id)).rejects.toMatchObject({ name: 'ProblemError', code: 'RUN_NOT_FOUND' });
  });

  it('registers engines and pools', async () => {
    const client = clientOfApi(createApi());
    expect(await client.pools.put('warehouse', 3)).toMatchObject({ name: 'warehouse', slots: 3, held: 0 });
    expect(await client.pools.list().all()).toEqual([{ name: 'warehouse', slots: 3, held: 0 }]);
    expect((await client.engines.list().all()).map(({ name }) => name)).toContain('lambda');
    await expect(client.engines.remove('lambda')).rejects.toMatchObject({ code: 'BUILT_IN_ENGINE', status: 409 });
    expect(await client.health()).toMatchObject({ status: 'ok' });
  });
});
