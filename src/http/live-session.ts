/** What clients of live updates say: subscribe, unsubscribe, ping. Each message has one answer. */
import pMap from 'p-map';
import type { JsonObject } from '#domain/json.ts';
import { isRunOver, type RunRecord } from '#domain/run.ts';
import { DamagedRunError, NewerRunError } from '#domain/run-codec.ts';
import { WATCH_MS } from '#domain/watch.ts';
import type { LiveTopic } from '#ports/live.ts';
import { type LiveDeps, pipelineTopic, runOf, runTopic } from './live-deps.ts';
import { frame, MAX_FRAME_BYTES } from './live-frames.ts';
import { type LiveMessage, liveMessageSchema } from './live-schemas.ts';
import { removeConnection, sendFrame, settleFeed } from './live-sending.ts';
import { pipelineSnapshot, runSnapshot } from './live-snapshot.ts';
import { ApiProblem } from './problem.ts';
import { toProblem } from './problem-response.ts';
import { boundErrors, cutText } from './problem-size.ts';
import { readJsonBody } from './request-body.ts';
import { readScope } from './run-reading.ts';

/** What a connection may look at, at the same time. */
export const MAX_SUBSCRIPTIONS = 20;
/** Longest life of a connection (ms), with a few minutes more. https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-execution-service-websocket-limits-table.html */
const CONNECTION_MS = 130 * 60_000;
const PARALLEL_READS = 5;

/** A message as it came. */
export interface LiveRequest {
  readonly connection: string;
  /** When the connection was opened (ms since the epoch). */
  readonly connectedAt: number;
  readonly body: Uint8Array;
  readonly requestId: string;
}

/** Answers a message; what is wrong with it is an answer, too. */
export async function answerMessage(deps: LiveDeps, request: LiveRequest): Promise<void> {
  let about: Pick<LiveMessage, 'run' | 'pipeline'> = {};
  let answer: string;
  try {
    const message = readMessage(request);
    about = aboutOf(message);
    answer = await carryOut(deps, request, message);
  } catch (error) {
    answer = errorFrame(deps, error, request, about);
  }
  await sendFrame(deps, [request.connection], answer);
}

/** A connection was closed, by whomever. */
export function endSession(deps: LiveDeps, connection: string): Promise<void> {
  return removeConnection(deps, connection);
}

function readMessage({ body, requestId }: LiveRequest): LiveMessage {
  const headers = new Map<string, string>();
  const request = { method: 'MESSAGE', path: '', query: new URLSearchParams(), headers, body, requestId };
  const message = readJsonBody(request, liveMessageSchema);
  const named = Object.keys(aboutOf(message)).length;
  if (message.action === 'ping' ? named > 0 : named !== 1) {
    const detail = message.action === 'ping' ? 'takes neither run nor pipeline' : 'takes either run or pipeline';
    throw new ApiProblem('INVALID_REQUEST', `The action ${message.action} ${detail}.`);
  }
  return message;
}

function aboutOf({ run, pipeline }: LiveMessage) {
  return { ...(run !== undefined && { run }), ...(pipeline !== undefined && { pipeline }) };
}

async function carryOut(deps: LiveDeps, request: LiveRequest, message: LiveMessage): Promise<string> {
  const { run, pipeline = '' } = message;
  const topic = run === undefined ? pipelineTopic(pipeline) : runTopic(run);
  switch (message.action) {
    case 'ping':
      return pong(deps, request.connection);
    case 'unsubscribe':
      await deps.live.unsubscribe(request.connection, topic);
      await settleFeed(deps);
      return frame('Unsubscribed', aboutOf(message));
    case 'subscribe':
      return run === undefined ? lookAtPipeline(deps, request, pipeline) : lookAtRun(deps, request, run);
  }
}

/** The row is put and the feed is open before the run is read: no change can fall between snapshot and events. */
async function lookAtRun(deps: LiveDeps, request: LiveRequest, run: string): Promise<string> {
  await readScope(deps, run);
  await enter(deps, request, runTopic(run));
  const scope = await readScope(deps, run);
  await watch(deps, scope.run);
  return runSnapshot(deps, scope);
}

async function lookAtPipeline(deps: LiveDeps, request: LiveRequest, name: string): Promise<string> {
  const head = await deps.pipelines.readHead(name);
  if (!head || head.deleting) {
    throw new ApiProblem('PIPELINE_NOT_FOUND', `There is no pipeline ${JSON.stringify(name)}.`);
  }
  await enter(deps, request, pipelineTopic(name));
  return pipelineSnapshot(deps, name);
}

async function enter({ live, feed }: LiveDeps, request: LiveRequest, topic: LiveTopic): Promise<void> {
  const { connection, connectedAt } = request;
  const topics = await live.topicsOf(connection);
  if (topics.length >= MAX_SUBSCRIPTIONS && !topics.includes(topic)) {
    const detail = `A connection looks at ${MAX_SUBSCRIPTIONS} runs and pipelines at most.`;
    throw new ApiProblem('TOO_MANY_SUBSCRIPTIONS', detail);
  }
  await live.subscribe(connection, topic, connectedAt + CONNECTION_MS);
  await feed.open();
}

/** Has a run watched, or for longer, unless it is for a while yet. */
async function watch({ watches, clock }: LiveDeps, { id, state, watchedUntil = 0 }: RunRecord): Promise<void> {
  if (!isRunOver(state) && watchedUntil < clock.now() + WATCH_MS / 2) await watches.ask(id);
}

/**
 * Tells how far the runs are that a connection looks at: by that a client finds out what it was not told. Whatever was
 * lost before is put right: the feed is open, the runs are watched.
 */
async function pong(deps: LiveDeps, connection: string): Promise<string> {
  const topics = await deps.live.topicsOf(connection);
  if (topics.length > 0) await deps.feed.open();
  const runs = await pMap(topics, (topic) => lookAgain(deps, topic), { concurrency: PARALLEL_READS });
  return frame('Pong', { runs: runs.filter((run) => run !== undefined) });
}

async function lookAgain(deps: LiveDeps, topic: LiveTopic): Promise<JsonObject | undefined> {
  const id = runOf(topic);
  if (id === undefined) return undefined;
  try {
    const run = await deps.runs.readRun(id);
    if (!run || run.deleted) return undefined;
    await watch(deps, run);
    return { runId: id, rev: run.rev, state: run.state };
  } catch (error) {
    // One that cannot be read must not hide the others.
    if (error instanceof DamagedRunError || error instanceof NewerRunError) return undefined;
    throw error;
  }
}

function errorFrame({ log }: LiveDeps, error: unknown, request: LiveRequest, about: object): string {
  const problem = toProblem(error);
  const { code, cause } = problem;
  const { connection, requestId } = request;
  if (code === 'INTERNAL_ERROR') log.error('message not answered', { connection, requestId, error: cause ?? error });
  const fields = { code, message: cutText(problem.message), ...about };
  const errors = boundErrors(problem.errors) as unknown as JsonObject[];
  const full = frame('Error', { ...fields, ...(errors.length > 0 && { errors }) });
  return Buffer.byteLength(full) <= MAX_FRAME_BYTES ? full : frame('Error', { code, message: fields.message });
}
