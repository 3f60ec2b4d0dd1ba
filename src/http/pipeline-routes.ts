/** Pipelines: put, check, get, list. */
import * as z from 'zod';
import { definitionRevision } from '#authoring/definition-revision.ts';
import { NAME_PATTERN, pipelineSchema } from '#domain/definition-schema.ts';
import { toIsoTime } from '#domain/iso-time.ts';
import type { PipelineHead } from '#ports/index.ts';
import { loadPipeline } from '#scheduler/pipelines.ts';
import { type PutOutcome, putPipeline } from '#scheduler/put-pipeline.ts';
import { type ApiRequest, jsonResponse } from './api-message.ts';
import { DEFINITION_TYPES, readDefinitionBody } from './definition-body.ts';
import { pageSchema } from './field-schemas.ts';
import { fromCursor, sliceFrom, toCursor } from './paging.ts';
import { pipelineLineSchema, pipelineResourceSchema, revisionSchema, validationSchema } from './pipeline-schemas.ts';
import { viewHead, viewPipeline } from './pipeline-view.ts';
import { ApiProblem, PIPELINE_PROBLEMS } from './problem.ts';
import { DEFAULT_LIMIT, paging } from './query-parameters.ts';
import { type ApiDeps, defineRoute } from './route.ts';

const ETAG = { ETag: 'The revision that is shown, in double quotes; `If-Match` takes it.' };
const definitionBody = { mediaTypes: DEFINITION_TYPES, schema: pipelineSchema, required: true };
const BODY_PROBLEMS = [
  'INVALID_JSON',
  'INVALID_YAML',
  'INVALID_UNICODE',
  'TOO_DEEP',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'INVALID_DEFINITION',
] as const;

/** `PUT /v1/pipelines/{name}` */
export const putPipelineRoute = defineRoute({
  method: 'PUT',
  path: '/v1/pipelines/{name}',
  operationId: 'putPipeline',
  summary: 'Puts a pipeline; a changed definition makes a new revision',
  headers: { 'If-Match': 'Revision that has to be the present one, in double quotes; `*` is any.' },
  body: definitionBody,
  answers: {
    200: { description: 'A new revision, or the present one again', schema: pipelineResourceSchema, headers: ETAG },
    201: { description: 'The first revision', schema: pipelineResourceSchema, headers: ETAG },
  },
  problems: [...BODY_PROBLEMS, 'REVISION_MISMATCH', 'PIPELINE_DELETING', 'BUSY', ...PIPELINE_PROBLEMS],
  async handle({ deps, request, pathPart }) {
    const definition = await readDefinitionBody(request);
    const name = pathPart('name');
    if (definition.name !== name) throw nameMismatch(name, definition.name);
    const revision = definitionRevision(definition);
    const put = await putPipeline(deps, { definition, revision, ifMatch: ifMatchOf(request) });
    const head = headOf(put, name);
    const pipeline = await loadPipeline(deps.pipelines, name, head.revision);
    if (!pipeline) throw pipelineNotFound(name);
    return jsonResponse(put.kind === 'created' ? 201 : 200, viewPipeline(head, pipeline), etagOf(head.revision));
  },
});

function nameMismatch(expected: string, found: string): ApiProblem {
  const message = `the address names the pipeline ${JSON.stringify(expected)}, the definition ${JSON.stringify(found)}`;
  const errors = [{ path: 'name', code: 'INVALID_FIELD', message, value: found, allowed: expected }];
  return new ApiProblem('INVALID_DEFINITION', `name: ${message}.`, { errors });
}

function headOf(put: PutOutcome, name: string): PipelineHead {
  switch (put.kind) {
    case 'mismatch': {
      const there = put.head ? `is at revision ${put.head.revision}` : 'does not exist';
      throw new ApiProblem('REVISION_MISMATCH', `The pipeline ${JSON.stringify(name)} ${there}.`);
    }
    case 'deleting':
      throw deletingProblem(name);
    case 'busy':
      throw pipelineBusy();
    default:
      return put.head;
  }
}

function deletingProblem(name: string): ApiProblem {
  const detail = `The pipeline ${JSON.stringify(name)} is being deleted.`;
  return new ApiProblem('PIPELINE_DELETING', detail, { headers: { 'retry-after': '60' } });
}

/** The revisions that a request expects; nothing where it expects none. */
function ifMatchOf(request: ApiRequest): string[] | undefined {
  const header = request.headers.get('if-match');
  return header?.split(',').map((tag) => tag.trim().replace(/^"(.*)"$/, '$1'));
}

function etagOf(revision: string): { etag: string } {
  return { etag: `"${revision}"` };
}

/** `POST /v1/pipelines:validate` */
export const validateRoute = defineRoute({
  method: 'POST',
  path: '/v1/pipelines:validate',
  operationId: 'validatePipeline',
  summary: 'Checks a definition and stores nothing',
  body: definitionBody,
  answers: { 200: { description: 'It is valid', schema: validationSchema } },
  problems: BODY_PROBLEMS,
  async handle({ request }) {
    const { nodes } = await readDefinitionBody(request);
    const edges = nodes.reduce((count, node) => count + (node.dependsOn?.length ?? 0), 0);
    return jsonResponse(200, { valid: true, nodes: nodes.length, edges });
  },
});

/** `GET /v1/pipelines` */
export const listPipelinesRoute = defineRoute({
  method: 'GET',
  path: '/v1/pipelines',
  operationId: 'listPipelines',
  summary: 'Lists pipelines by name',
  query: paging,
  answers: { 200: { description: 'A page', schema: pageSchema(pipelineLineSchema) } },
  problems: ['INVALID_PARAMETER', 'INVALID_PAGE_TOKEN'],
  async handle({ deps, query }) {
    const listed = { list: 'pipelines' };
    const after = query.cursor === undefined ? undefined : fromCursor(query.cursor, listed, z.string());
    const { items, last } = await deps.pipelines.listHeads(query.limit ?? DEFAULT_LIMIT, after);
    return jsonResponse(200, {
      items: items.filter(({ deleting }) => !deleting).map(viewHead),
      ...(last !== undefined && { nextCursor: toCursor(listed, last) }),
    });
  },
});

/** `GET /v1/pipelines/{name}` */
export const getPipelineRoute = defineRoute({
  method: 'GET',
  path: '/v1/pipelines/{name}',
  operationId: 'getPipeline',
  summary: 'A pipeline with its present revision, or another one',
  query: { revision: { schema: z.string(), description: 'Default: the present one.' } },
  answers: { 200: { description: 'The pipeline', schema: pipelineResourceSchema, headers: ETAG } },
  problems: ['INVALID_PARAMETER', 'PIPELINE_NOT_FOUND', 'REVISION_NOT_FOUND', ...PIPELINE_PROBLEMS],
  async handle({ deps, query, pathPart }) {
    const head = await readHead(deps, pathPart('name'));
    const revision = query.revision ?? head.revision;
    const pipeline = await loadPipeline(deps.pipelines, head.name, revision);
    if (!pipeline) {
      const detail = `The pipeline ${JSON.stringify(head.name)} has no revision ${JSON.stringify(revision)}.`;
      throw new ApiProblem('REVISION_NOT_FOUND', detail);
    }
    const newest = await loadPipeline(deps.pipelines, head.name, head.revision);
    return jsonResponse(200, viewPipeline(head, pipeline, newest), etagOf(revision));
  },
});

/** `GET /v1/pipelines/{name}/revisions` */
export const listRevisionsRoute = defineRoute({
  method: 'GET',
  path: '/v1/pipelines/{name}/revisions',
  operationId: 'listRevisions',
  summary: 'The revisions of a pipeline, newest first',
  query: paging,
  answers: { 200: { description: 'A page', schema: pageSchema(revisionSchema) } },
  problems: ['INVALID_PARAMETER', 'INVALID_PAGE_TOKEN', 'PIPELINE_NOT_FOUND', ...PIPELINE_PROBLEMS],
  async handle({ deps, query, pathPart }) {
    const head = await readHead(deps, pathPart('name'));
    const listed = { list: 'revisions', pipeline: head.name, incarnation: head.incarnation };
    const after = query.cursor === undefined ? undefined : fromCursor(query.cursor, listed, z.string());
    const all = await deps.pipelines.listRevisions(head.name, head.incarnation);
    const start = after === undefined ? 0 : all.findIndex(({ revision }) => revision === after) + 1;
    const page = sliceFrom(all, start, query.limit ?? DEFAULT_LIMIT);
    const last = page.items.at(-1)?.revision;
    return jsonResponse(200, {
      items: page.items.map(({ revision, createdAt }) => ({ revision, createdAt: toIsoTime(createdAt) })),
      ...(page.next !== undefined && last !== undefined && { nextCursor: toCursor(listed, last) }),
    });
  },
});

/**
 * The head of a pipeline.
 * @throws ApiProblem PIPELINE_NOT_FOUND
 */
export async function readHead(deps: ApiDeps, name: string): Promise<PipelineHead> {
  const head = NAME_PATTERN.test(name) ? await deps.pipelines.readHead(name) : undefined;
  if (!head || head.deleting) throw pipelineNotFound(name);
  return head;
}

/** The problem of a pipeline that others keep changing. */
export function pipelineBusy(): ApiProblem {
  return new ApiProblem('BUSY', 'Others keep changing this pipeline; try again.', { headers: { 'retry-after': '1' } });
}

/** The problem of a pipeline that is not there. */
export function pipelineNotFound(name: string): ApiProblem {
  return new ApiProblem('PIPELINE_NOT_FOUND', `There is no pipeline ${JSON.stringify(name)}.`);
}
