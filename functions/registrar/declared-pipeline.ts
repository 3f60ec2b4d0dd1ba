/**
 * What a pipeline's resource does: CloudFormation may repeat each request, and roll back what it cannot finish.
 *
 * The resource's physical id is `NAME/INCARNATION`; incarnation 0 says that nothing was put. A pipeline that is there
 * already is taken over, as `PUT` does: it may have been kept when its resource went.
 */
import { inflateRawSync } from 'node:zlib';
import * as z from 'zod';
import { definitionRevision } from '#authoring/definition-revision.ts';
import { DEFINITION_LIMITS, type PipelineDefinition } from '#domain/definition.ts';
import { readDefinitionBody } from '#http/definition-body.ts';
import { ApiProblem } from '#http/problem.ts';
import { deletePipeline } from '#scheduler/delete-pipeline.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { type PutOutcome, putPipeline } from '#scheduler/put-pipeline.ts';
import { givenName, ownerOf, type ResourceRequest } from './resource-request.ts';

/** What becomes of a pipeline when its resource goes: it stays, goes unless runs are active, or goes with its runs. */
const removalSchema = z.enum(['keep', 'delete', 'stopAndDelete']);

const propertiesSchema = z.union([
  z.object({ Name: z.string(), Definition: z.string() }),
  z.object({ Name: z.string(), DefinitionDeflated: z.base64() }),
]);

/**
 * Does what is asked; gives the physical id of the resource.
 * @throws ApiProblem for what the API would refuse too
 */
export async function carryOutPipeline(deps: PassDeps, request: ResourceRequest): Promise<string> {
  return request.RequestType === 'Delete' ? remove(deps, request) : put(deps, request);
}

/** The physical id to answer a failure with: that of the resource, or one that says that nothing was put. */
export function idOfFailedPipeline(request: ResourceRequest): string {
  return request.PhysicalResourceId ?? `${(givenName(request) ?? 'unnamed').slice(0, 128)}/0`;
}

async function put(deps: PassDeps, request: ResourceRequest): Promise<string> {
  const definition = await readDefinition(request);
  const name = givenName(request);
  if (definition.name !== name) {
    const named = `the resource names ${JSON.stringify(name)}, the definition ${JSON.stringify(definition.name)}`;
    throw new ApiProblem('INVALID_DEFINITION', `name: ${named}.`);
  }
  readRemoval(request);
  const outcome = await putPipeline(deps, { definition, revision: definitionRevision(definition) });
  return `${name}/${incarnationOf(name, outcome)}`;
}

function incarnationOf(name: string, outcome: PutOutcome): string {
  switch (outcome.kind) {
    case 'created':
    case 'changed':
    case 'unchanged':
      return outcome.head.incarnation;
    case 'deleting':
      throw new ApiProblem('PIPELINE_DELETING', `The pipeline ${JSON.stringify(name)} is being deleted.`);
    default:
      throw new ApiProblem('BUSY', 'Others keep changing this pipeline.');
  }
}

async function readDefinition({ ResourceProperties, RequestId }: ResourceRequest): Promise<PipelineDefinition> {
  const read = propertiesSchema.safeParse(ResourceProperties);
  if (!read.success) throw new ApiProblem('INVALID_REQUEST', z.prettifyError(read.error));
  const body = 'Definition' in read.data ? Buffer.from(read.data.Definition) : inflated(read.data.DefinitionDeflated);
  const headers = new Map([['content-type', 'application/json']]);
  const request = { method: 'PUT', path: '', query: new URLSearchParams(), headers, requestId: RequestId };
  return readDefinitionBody({ ...request, body });
}

function inflated(text: string): Buffer {
  try {
    return inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: DEFINITION_LIMITS.definitionBytes });
  } catch (error) {
    throw new ApiProblem('INVALID_REQUEST', `DefinitionDeflated: ${String(error)}`);
  }
}

function readRemoval({ ResourceProperties }: ResourceRequest): z.output<typeof removalSchema> {
  const read = removalSchema.safeParse(ResourceProperties['OnRemoval'] ?? 'keep');
  if (read.success) return read.data;
  throw new ApiProblem('INVALID_REQUEST', `OnRemoval: must be one of ${removalSchema.options.join(', ')}.`);
}

/** Deletes the pipeline that this resource put, if its user says so, and no other of its name. */
async function remove(deps: PassDeps, request: ResourceRequest): Promise<string> {
  const id = idOfFailedPipeline(request);
  const [, name, incarnation] = /^([\w.-]+)\/(\w+)$/.exec(id) ?? [];
  const head = name === undefined ? undefined : await deps.pipelines.readHead(name);
  if (!head || head.incarnation !== incarnation) return id;
  const removal = readRemoval(request);
  if (removal === 'keep') return id;
  const order = { isForced: removal === 'stopAndDelete', by: ownerOf(request) };
  const outcome = await deletePipeline(deps, head.name, order);
  if (outcome.kind === 'busy') throw new ApiProblem('BUSY', 'Others keep changing this pipeline.');
  if (outcome.kind === 'active') {
    const active = `At least ${outcome.count} runs of the pipeline ${JSON.stringify(name)} are active.`;
    throw new ApiProblem('ACTIVE_RUNS', `${active} Stop them, or let its resource be removed with "stopAndDelete".`);
  }
  return id;
}
