/** What is in the host before the first request: pipelines, runs that are over, that wait, and that failed; an engine, a pool. */
import { z } from 'zod';

/** Names and ids of what is there. */
export interface Seeded {
  readonly names: readonly string[];
  readonly runIds: readonly string[];
  readonly nodes: readonly string[];
}

const list = { function: 'map-list', payload: {} };
const DEFINITIONS = [
  {
    name: 'seeded-map',
    nodes: [
      { id: 'list', params: list },
      { id: 'a/b ✓', dependsOn: ['list'], map: { items: [1, 2, 3] }, params: list },
    ],
    output: { done: true },
  },
  { name: 'seeded-waiting', nodes: [{ id: 'list', engine: 'nowhere' }] },
  { name: 'seeded-failing', nodes: [{ id: 'list', params: { function: 'nothing-has-this-name' } }] },
];
const NODES = ['list', `b64.${Buffer.from('a/b ✓').toString('base64url')}`, 'unknown'];

const ENGINE = 'seeded-engine';
const POOL = 'seeded-pool';

/** Puts all of it and starts runs; each run is awaited for a while. */
export async function seedHost(url: string): Promise<Seeded> {
  const runIds: string[] = [];
  for (const definition of DEFINITIONS) {
    await send(url, 'PUT', `/v1/pipelines/${definition.name}`, definition);
    for (const _ of [1, 2]) runIds.push(await send(url, 'POST', `/v1/pipelines/${definition.name}/runs`, {}));
  }
  const { stateMachineArn } = machine.parse(await (await fetch(`${url}/v1/engines/lambda`)).json());
  await send(url, 'PUT', `/v1/engines/${ENGINE}`, { stateMachineArn });
  await send(url, 'PUT', `/v1/pools/${POOL}`, { slots: 2 });
  for (const runId of runIds) await fetch(`${url}/v1/runs/${runId}?wait=5`);
  return { names: [...DEFINITIONS.map(({ name }) => name), ENGINE, POOL, 'lambda'], runIds, nodes: NODES };
}

const machine = z.object({ stateMachineArn: z.string() });
const thing = z.object({ id: z.string().default('') });

async function send(url: string, method: string, address: string, body: unknown): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}${address}`, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${address} answered ${response.status}: ${await response.text()}`);
  return thing.parse(await response.json()).id;
}
