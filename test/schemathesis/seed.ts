/** What is in the host before the first request: pipelines, runs in every state, and what came of the calls that change them. */
import { z } from 'zod';
import type { Json } from '#domain/json.ts';
import { HELD, NODE_IDS, ODD_ID, PIPELINES } from './pipelines.ts';

/** Names, ids and texts of what is there. */
export interface Seeded {
  readonly names: readonly string[];
  readonly runIds: readonly string[];
  readonly nodes: readonly string[];
  readonly revisions: readonly string[];
  readonly cursors: readonly string[];
  readonly tokens: readonly string[];
  readonly machines: readonly string[];
  /** What the calls that end something are to find, so that the rest stays. */
  readonly doomed: { readonly names: readonly string[]; readonly runIds: readonly string[] };
}

/** Calls a host, and gives its answer as JSON; an answer that is no success ends the program. */
type Call = (method: string, address: string, body?: Json) => Promise<unknown>;

const toPath = (id: string) => (id === ODD_ID ? `b64.${Buffer.from(id).toString('base64url')}` : id);
const ODD = toPath(ODD_ID);

/** Puts all of it and starts runs; each run is awaited for a while. */
export async function seedHost(url: string): Promise<Seeded> {
  const call = callsOf(url);
  const { stateMachineArn } = z.object({ stateMachineArn: z.string() }).parse(await call('GET', '/v1/engines/lambda'));
  for (const { name } of PIPELINES) {
    await call('PUT', `/v1/engines/${name}`, { stateMachineArn, maxConcurrent: 1, labels: { team: 'seeds' } });
    await call('PUT', `/v1/pools/${name}`, { slots: name === HELD ? 2 : 0 });
  }
  await call('POST', '/v1/engines/seeded-map/drain');
  const revisions = [];
  for (const pipeline of PIPELINES) revisions.push(await put(call, { ...pipeline, description: 'as it was' }));
  for (const pipeline of PIPELINES) revisions.push(await put(call, pipeline));
  const started = new Map<string, readonly string[]>();
  for (const { name } of PIPELINES) {
    started.set(name, [await start(call, name, { tags: { seed: 'one' } }), await start(call, name)]);
  }
  for (const runId of [...started.values()].flat()) await call('GET', `/v1/runs/${runId}?wait=2`);
  const later = await changeRuns(call, (name, at = 0) => started.get(name)?.[at] ?? '');
  const runIds = [...[...started.values()].flat(), ...later];
  return {
    names: [...PIPELINES.map(({ name }) => name), 'lambda', 'nowhere'],
    runIds,
    nodes: [...NODE_IDS, 'unknown'].map(toPath),
    revisions,
    cursors: await cursorsOf(call, runIds),
    tokens: await tokensOf(call, started.get('seeded-asking') ?? []),
    machines: [stateMachineArn],
    doomed: await makeDoomed(call, stateMachineArn),
  };
}

/** How many pipelines, engines and runs there are to be ended. */
const DOOMED = 10;

async function makeDoomed(call: Call, stateMachineArn: string): Promise<Seeded['doomed']> {
  const names = Array.from({ length: DOOMED }, (_, at) => `doomed-${at}`);
  const runIds = [];
  for (const name of names) {
    await put(call, { name, nodes: [{ id: 'one', engine: 'nowhere' }] });
    await call('PUT', `/v1/engines/${name}`, { stateMachineArn });
    runIds.push(await start(call, name), await start(call, 'seeded-nowhere'));
  }
  return { names, runIds };
}

const thing = z.object({ id: z.string() });

function callsOf(url: string): Call {
  return async (method, address, body) => {
    const sent =
      body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(`${url}${address}`, { method, ...sent });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${address} answered ${response.status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
}

async function put(call: Call, pipeline: { readonly [field: string]: Json }): Promise<string> {
  const answer = await call('PUT', `/v1/pipelines/${pipeline['name']}`, pipeline);
  return z.object({ revision: z.string() }).parse(answer).revision;
}

async function start(call: Call, name: string, body: Json = {}): Promise<string> {
  return thing.parse(await call('POST', `/v1/pipelines/${name}/runs`, body)).id;
}

/** Calls what changes runs and pipelines that are there; gives the ids of the runs that came of it. */
async function changeRuns(call: Call, of: (name: string, at?: number) => string): Promise<string[]> {
  const failed = of('seeded-failing');
  await call('POST', `/v1/runs/${of('seeded-nowhere')}/pause`);
  await call('POST', `/v1/runs/${of('seeded-nowhere', 1)}/nodes/one/mark`, { state: 'SUCCEEDED', output: [1] });
  await call('POST', `/v1/runs/${of('seeded-asking')}/nodes/one/answer`, {
    approve: true,
    output: {},
    comment: 'Yes.',
  });
  await call('POST', `/v1/runs/${of('seeded-asking')}/nodes/${ODD}/answer?item=0`, { approve: false });
  const again = await call('POST', `/v1/runs/${failed}/rerun`, { from: 'failed', revision: 'original' });
  const marked = await call('POST', `/v1/runs/${failed}/rerun`, {
    from: ['three'],
    revision: 'latest',
    mark: { [ODD_ID]: { state: 'SUCCEEDED', output: 1, note: 'by hand' } },
  });
  const part = await start(call, 'seeded-map', { only: ['three'], reuse: { runId: of('seeded-map') } });
  const stopped = await start(call, 'seeded-asking');
  await call('POST', `/v1/runs/${stopped}/stop`);
  const deleted = await start(call, 'seeded-nowhere');
  await call('DELETE', `/v1/runs/${deleted}?force=true`);
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-01T12:00:00Z' };
  await call('POST', '/v1/pipelines/seeded-map/pause');
  await call('POST', '/v1/pipelines/seeded-schedule/backfills', range);
  return [thing.parse(again).id, thing.parse(marked).id, part, stopped, deleted];
}

/** Cursors of lists that are there. */
async function cursorsOf(call: Call, runIds: readonly string[]): Promise<string[]> {
  const [first] = runIds;
  const lists = ['runs', 'pipelines', 'engines', 'pipelines/seeded-map/revisions', `runs/${first}/history`];
  const pages = await Promise.all(lists.map((list) => call('GET', `/v1/${list}?limit=1`)));
  return pages.flatMap((page) => z.object({ nextCursor: z.string().optional() }).parse(page).nextCursor ?? []);
}

/** Tokens of approvals that wait. */
async function tokensOf(call: Call, runIds: readonly string[]): Promise<string[]> {
  const view = z.object({ approval: z.object({ token: z.string() }).optional() });
  const nodes = await Promise.all(runIds.map((runId) => call('GET', `/v1/runs/${runId}/nodes/one`)));
  return [...nodes.flatMap((node) => view.parse(node).approval?.token ?? []), 'no-token'];
}
