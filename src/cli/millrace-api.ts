import { z } from 'zod';
import type { PipelineDefinition } from '#authoring/index.ts';
import { toNodePath } from '#http/node-path.ts';
import type { ApiAnswer, ApiClient } from './api-client.ts';
import {
  type AttemptShape,
  attemptShape,
  type HistoryShape,
  historyShape,
  type NodeShape,
  nodeShape,
  type PipelineShape,
  pageShape,
  pipelineShape,
  type RunShape,
  runShape,
} from './api-shapes.ts';

/** The largest page that a list gives. */
const PAGE = 1000;

/** The path of a run. */
export function runPath(runId: string): string {
  return `/v1/runs/${encodeURIComponent(runId)}`;
}

/** The path of a pipeline. */
export function pipelinePath(name: string): string {
  return `/v1/pipelines/${encodeURIComponent(name)}`;
}

/** Path and query, without the parameters that have no value. */
export function withQuery(
  path: string,
  parameters: Readonly<Record<string, string | number | readonly string[] | undefined>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Stores a definition; gives the pipeline. */
export function putPipeline(api: ApiClient, definition: PipelineDefinition): Promise<PipelineShape> {
  return api.read(pipelineShape, { method: 'PUT', path: pipelinePath(definition.name), body: definition });
}

/** A pipeline with its newest or a given revision. */
export function readPipeline(api: ApiClient, name: string, revision?: string): Promise<PipelineShape> {
  return api.read(pipelineShape, { path: withQuery(pipelinePath(name), { revision }) });
}

/** How a run is to be started. */
export interface Start {
  readonly input?: unknown;
  /** Ids of nodes. */
  readonly only?: readonly string[] | undefined;
  /** Id of a run to take successes from. */
  readonly reuse?: string | undefined;
}

/** A run that was started: as it came and as it is read. */
export interface Started {
  readonly answer: ApiAnswer;
  readonly run: RunShape;
}

/** Starts a run; the same key starts it only once. */
export function startRun(api: ApiClient, pipeline: string, start: Start, key: string): Promise<Started> {
  const { input, only, reuse } = start;
  const body = { input, only, ...(reuse !== undefined && { reuse: { runId: reuse } }) };
  return sendStart(api, `${pipelinePath(pipeline)}/runs`, body, key);
}

/** Starts a run again; the same key starts it only once. */
export function rerunRun(api: ApiClient, runId: string, body: object, key: string): Promise<Started> {
  return sendStart(api, `${runPath(runId)}/rerun`, body, key);
}

async function sendStart(api: ApiClient, path: string, body: object, key: string): Promise<Started> {
  const answer = await api.send({ method: 'POST', path, body, headers: { 'idempotency-key': key } });
  return { answer, run: runShape.parse(answer.value) };
}

/** A run, as it came and as it is read. */
export async function readRun(api: ApiClient, runId: string): Promise<{ answer: ApiAnswer; run: RunShape }> {
  const answer = await api.send({ path: runPath(runId) });
  return { answer, run: runShape.parse(answer.value) };
}

/** Gives a run a command. */
export function commandRun(api: ApiClient, runId: string, command: 'stop' | 'pause' | 'resume'): Promise<ApiAnswer> {
  return api.send({ method: 'POST', path: `${runPath(runId)}/${command}` });
}

/** All entries of a list, page after page, as they came. */
async function readAll(api: ApiClient, path: string, query: Readonly<Record<string, string>> = {}): Promise<unknown[]> {
  const all: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await api.read(pageShape(z.unknown()), { path: withQuery(path, { ...query, limit: PAGE, cursor }) });
    all.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}

/** All nodes of a run in the order of the definition, as they came and as they are read. */
export async function readNodes(api: ApiClient, runId: string): Promise<{ values: unknown[]; nodes: NodeShape[] }> {
  const values = await readAll(api, `${runPath(runId)}/nodes`);
  return { values, nodes: z.array(nodeShape).parse(values) };
}

/** Every attempt of a node. */
export async function readAttempts(api: ApiClient, runId: string, node: string): Promise<AttemptShape[]> {
  return z.array(attemptShape).parse(await readAll(api, `${runPath(runId)}/nodes/${toNodePath(node)}/attempts`));
}

/** A node of a run. */
export function readNode(api: ApiClient, runId: string, node: string): Promise<NodeShape> {
  return api.read(nodeShape, { path: `${runPath(runId)}/nodes/${toNodePath(node)}` });
}

/** What happened to a run and its nodes so far; nothing of the items of maps. */
export async function readHistory(api: ApiClient, runId: string): Promise<HistoryShape[]> {
  return z.array(historyShape).parse(await readAll(api, `${runPath(runId)}/history`, { items: 'false' }));
}
