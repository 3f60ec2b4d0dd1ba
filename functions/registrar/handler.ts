/**
 * The function behind `Custom::MillraceEngine` and `Custom::MillracePipeline`: a deployment registers, changes and removes
 * engines, and puts pipelines. It always answers, since a deployment waits for it: what goes wrong too, and what takes too long.
 */
import { setTimeout as delay } from 'node:timers/promises';
import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { ApiProblem, type ProblemCode } from '#http/problem.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { carryOutPipeline, idOfFailedPipeline } from './declared-pipeline.ts';
import { carryOutEngine, idOfFailedEngine } from './registered-engine.ts';
import { type ResourceRequest, readRequest } from './resource-request.ts';
import { type ResourceAnswer, type SendDeps, sendAnswer } from './send-answer.ts';

/** Where the lines go. */
export interface RegistrarLog {
  info(message: string, fields: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** What the function works with. */
export interface RegistrarHandlerDeps extends SendDeps {
  readonly registrar: PassDeps;
  readonly logger: RegistrarLog;
}

/** How long what may pass by itself is tried again: a policy of the same deployment takes seconds to hold everywhere. */
const TRY_MS = 30_000;
/** A pipeline that is deleted with its runs goes a pass and some ticks after the order. */
const DELETING_MS = 60_000;
const BETWEEN_TRIES_MS = 2_000;
/** Time of an invocation (ms) that is kept for the answer. */
const ANSWER_MS = 20_000;

const MAY_PASS: ReadonlySet<ProblemCode> = new Set([
  'STATE_MACHINE_NOT_FOUND',
  'STATE_MACHINE_DENIED',
  'THROTTLED',
  'PIPELINE_DELETING',
  'BUSY',
]);

/** What is done for a type of resource, and the physical id of one that failed. */
interface Kind {
  readonly carryOut: (deps: PassDeps, request: ResourceRequest) => Promise<string>;
  readonly idOfFailure: (request: ResourceRequest) => string;
}

const ENGINE: Kind = { carryOut: carryOutEngine, idOfFailure: idOfFailedEngine };
const KINDS: ReadonlyMap<string, Kind> = new Map([
  ['Custom::MillraceEngine', ENGINE],
  ['Custom::MillracePipeline', { carryOut: carryOutPipeline, idOfFailure: idOfFailedPipeline }],
]);

/** Makes the handler. */
export function createHandler(deps: RegistrarHandlerDeps) {
  return middy<unknown, void, Error, Context>().handler(async (event, context) => {
    const request = readRequest(event);
    const answer = await answerInTime(deps, request, context.getRemainingTimeInMillis() - ANSWER_MS);
    const { RequestType, ResourceType, LogicalResourceId } = request;
    const fields = { request: RequestType, type: ResourceType, resource: LogicalResourceId, ...answer };
    if (answer.Status === 'SUCCESS') deps.logger.info('resource settled', fields);
    else deps.logger.warn('resource not settled', fields);
    await sendAnswer(deps, request, answer);
  });
}

/** A port that never answers must not keep the deployment waiting. */
async function answerInTime(deps: RegistrarHandlerDeps, request: ResourceRequest, ms: number): Promise<ResourceAnswer> {
  const timer = new AbortController();
  const late = delay(Math.max(ms, 0), undefined, { signal: timer.signal }).then(
    () => failed(request, 'it took too long; the log of the function registrar says more'),
    () => failed(request, 'it was in time'),
  );
  const answer = await Promise.race([answerOf(deps, request), late]);
  timer.abort();
  return answer;
}

async function answerOf(deps: RegistrarHandlerDeps, request: ResourceRequest): Promise<ResourceAnswer> {
  const began = deps.registrar.clock.now();
  const { carryOut } = kindOf(request);
  for (;;) {
    try {
      return { Status: 'SUCCESS', PhysicalResourceId: await carryOut(deps.registrar, request) };
    } catch (error) {
      const code = error instanceof ApiProblem ? error.code : undefined;
      const isFinal = code !== undefined && !MAY_PASS.has(code);
      const until = began + (code === 'PIPELINE_DELETING' ? DELETING_MS : TRY_MS);
      if (isFinal || deps.registrar.clock.now() >= until) return failed(request, reasonOf(error));
      deps.logger.warn('resource not settled yet', { resource: request.LogicalResourceId, error });
      await deps.sleep(BETWEEN_TRIES_MS);
    }
  }
}

function kindOf({ ResourceType }: ResourceRequest): Kind {
  return KINDS.get(ResourceType) ?? { ...ENGINE, carryOut: () => Promise.reject(unknownType(ResourceType)) };
}

function unknownType(type: string): ApiProblem {
  return new ApiProblem(
    'INVALID_REQUEST',
    `ResourceType: ${JSON.stringify(type)} is none of ${[...KINDS.keys()].join(', ')}.`,
  );
}

function failed(request: ResourceRequest, reason: string): ResourceAnswer {
  return { Status: 'FAILED', PhysicalResourceId: kindOf(request).idOfFailure(request), Reason: reason };
}

function reasonOf(error: unknown): string {
  if (error instanceof ApiProblem) return `${error.code}: ${error.message}`;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
