/** The calls of the API, with the very schemas of their answers: the same ones that `schemas/openapi.json` is made of. */
import * as z from 'zod';
import { backfillPlanSchema, backfillSchema } from '#http/backfill-schemas.ts';
import { engineLineSchema, engineSchema } from '#http/engine-schemas.ts';
import { pageSchema } from '#http/field-schemas.ts';
import { liveTicketSchema } from '#http/live-schemas.ts';
import { logLineSchema } from '#http/log-schemas.ts';
import { attemptSchema, mapItemSchema, nodeSchema } from '#http/node-schemas.ts';
import { pipelineLineSchema, revisionSchema, validationSchema } from '#http/pipeline-schemas.ts';
import { poolLineSchema, poolSchema } from '#http/pool-schemas.ts';
import { commandAnswerSchema, runLineSchema, runSchema } from '#http/run-schemas.ts';
import { explanationSchema, historyEntrySchema } from '#http/story-schemas.ts';
import { healthSchema } from '#http/system-schemas.ts';
import { pipelineSchema } from './pipeline-answer.ts';

/** A page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Where the next page begins; absent on the last one. */
  readonly nextCursor?: string | undefined;
}

/** A call of the API: where it is, what it takes beside a body, what it answers. */
export interface Operation<Path extends string = string, Answer = unknown, Query extends string = string> {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly path: Path;
  /** Absent where nothing is answered. */
  readonly answer?: z.ZodType<Answer>;
  /** Names of its query parameters. */
  readonly query: readonly Query[];
  /** Whether it starts something, once for each key. */
  readonly takesKey?: true;
}

const PAGING = ['limit', 'cursor'] as const;

function operation<const Path extends string, Answer, const Query extends string = never>(
  method: Operation['method'],
  path: Path,
  answer: z.ZodType<Answer>,
  query: readonly Query[] = [],
): Operation<Path, Answer, Query> {
  return { method, path, answer, query };
}

function list<const Path extends string, Item, const Query extends string = never>(
  path: Path,
  item: z.ZodType<Item>,
  query: readonly Query[] = [],
): Operation<Path, Page<Item>, Query | (typeof PAGING)[number]> {
  const answer = pageSchema(item) as z.ZodType<Page<Item>>;
  return { method: 'GET', path, answer, query: [...PAGING, ...query] };
}

function start<const Path extends string>(path: Path): Operation<Path, z.output<typeof runSchema>, never> {
  return { ...operation('POST', path, runSchema), takesKey: true };
}

function removal<const Path extends string, const Query extends string = never>(
  path: Path,
  query: readonly Query[] = [],
): Operation<Path, undefined, Query> {
  return { method: 'DELETE', path, query };
}

const RUN = '/v1/runs/{runId}';
const NODE = `${RUN}/nodes/{node}` as const;
const PIPELINE = '/v1/pipelines/{name}';
const ENGINE = '/v1/engines/{name}';

/** Every call of the API, by the `operationId` of `schemas/openapi.json`. */
export const OPERATIONS = {
  putPipeline: operation('PUT', PIPELINE, pipelineSchema),
  validatePipeline: operation('POST', '/v1/pipelines:validate', validationSchema),
  listPipelines: list('/v1/pipelines', pipelineLineSchema),
  getPipeline: operation('GET', PIPELINE, pipelineSchema, ['revision']),
  listRevisions: list(`${PIPELINE}/revisions`, revisionSchema),
  pausePipeline: operation('POST', `${PIPELINE}/pause`, pipelineSchema),
  resumePipeline: operation('POST', `${PIPELINE}/resume`, pipelineSchema),
  deletePipeline: removal(PIPELINE, ['force']),
  startBackfill: operation('POST', `${PIPELINE}/backfills`, z.union([backfillPlanSchema, backfillSchema])),
  startRun: start(`${PIPELINE}/runs`),
  listRuns: list('/v1/runs', runLineSchema, ['pipeline', 'state', 'tag', 'from', 'to']),
  getRun: operation('GET', RUN, runSchema, ['wait']),
  getRunOutput: operation('GET', `${RUN}/output`, z.unknown()),
  getHistory: list(`${RUN}/history`, historyEntrySchema, ['items']),
  explainRun: operation('GET', `${RUN}/explain`, explanationSchema, PAGING),
  stopRun: operation('POST', `${RUN}/stop`, commandAnswerSchema),
  pauseRun: operation('POST', `${RUN}/pause`, commandAnswerSchema),
  resumeRun: operation('POST', `${RUN}/resume`, commandAnswerSchema),
  deleteRun: removal(RUN, ['force']),
  rerun: start(`${RUN}/rerun`),
  listNodes: list(`${RUN}/nodes`, nodeSchema, ['state']),
  getNode: operation('GET', NODE, nodeSchema),
  getOutput: operation('GET', `${NODE}/output`, z.unknown(), ['item']),
  listAttempts: list(`${NODE}/attempts`, attemptSchema, ['item']),
  listItems: list(`${NODE}/items`, mapItemSchema, ['state']),
  getLogs: list(`${NODE}/logs`, logLineSchema, ['attempt', 'item']),
  markNode: operation('POST', `${NODE}/mark`, nodeSchema),
  answerNode: operation('POST', `${NODE}/answer`, z.union([nodeSchema, mapItemSchema]), ['item']),
  reportProgress: { method: 'POST', path: `${NODE}/progress`, query: ['item', 'attempt'] } as Operation<
    `${typeof NODE}/progress`,
    undefined,
    'item' | 'attempt'
  >,
  putEngine: operation('PUT', ENGINE, engineSchema),
  getEngine: operation('GET', ENGINE, engineSchema),
  removeEngine: removal(ENGINE),
  listEngines: list('/v1/engines', engineLineSchema),
  drainEngine: operation('POST', `${ENGINE}/drain`, engineSchema),
  heartbeatEngine: operation('POST', `${ENGINE}/heartbeat`, engineSchema),
  putPool: operation('PUT', '/v1/pools/{name}', poolSchema),
  getPool: operation('GET', '/v1/pools/{name}', poolSchema),
  listPools: list('/v1/pools', poolLineSchema),
  createLiveTicket: operation('POST', '/v1/live-tickets', liveTicketSchema),
  getHealth: operation('GET', '/v1/health', healthSchema),
  getOpenApi: operation('GET', '/v1/openapi.json', z.record(z.string(), z.unknown())),
};

/** The `operationId` of a call. */
export type OperationId = keyof typeof OPERATIONS;

/** What a call answers. */
export type AnswerOf<Id extends OperationId> =
  (typeof OPERATIONS)[Id] extends Operation<string, infer Answer, string> ? Answer : never;

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type PathOf<Id extends OperationId> = (typeof OPERATIONS)[Id]['path'];
type QueryOf<Id extends OperationId> = (typeof OPERATIONS)[Id]['query'][number];

/** What a query parameter may be: a list stands for the same one several times. */
export type QueryValue = string | number | boolean | readonly string[] | undefined;

/** What a call takes. */
export interface CallInput<Id extends OperationId = OperationId> {
  /** The parts of the path that are in braces, as they are: ids are encoded for it. */
  readonly path?: Readonly<Record<NamesIn<PathOf<Id>>, string>>;
  readonly query?: Readonly<Partial<Record<QueryOf<Id>, QueryValue>>>;
  /** Sent as JSON; a text is sent as YAML. */
  readonly body?: unknown;
  /** Starts something only once. @default one that is made for the call */
  readonly idempotencyKey?: string | undefined;
  /** The revision that a pipeline must have, `*` for any. Such a call is sent once alone. */
  readonly ifMatch?: string | undefined;
  /** Ends the call; it is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}
