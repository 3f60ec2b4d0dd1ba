/** `millrace/client`: the API of an installation as typed calls, in Node.js and in browsers. */
export type { PipelineDefinition } from '#domain/definition.ts';
export type { ProblemCode } from '#http/problem.ts';
export type { Answer, CallApi } from './call-api.ts';
export type * from './call-options.ts';
export { type ClientOptions, createClient, type MillraceClient } from './create-client.ts';
export type { EnginesClient, PoolsClient } from './engines-client.ts';
export {
  AccessError,
  ConnectionError,
  GatewayError,
  InvalidNameError,
  isProblem,
  MillraceError,
  NotMillraceError,
  type ProblemClass,
  ProblemError,
  problems,
} from './errors.ts';
export { type FollowOptions, isRunOver, type RunLook } from './follow-run.ts';
export type { LiveClient, SubscribeOptions } from './live-client.ts';
export type { WebSocketClass } from './live-connection.ts';
export type { PipelineSnapshot, RunChange, RunSnapshot } from './live-frames.ts';
export type { NodeFilter, NodesClient } from './nodes-client.ts';
export type { AnswerOf, CallInput, OperationId, Page } from './operations.ts';
export type { PagedList } from './paged-list.ts';
export type { DefinitionInput, PipelinesClient } from './pipelines-client.ts';
export type * from './resources.ts';
export type { RunFilter, RunsClient } from './runs-client.ts';
export type { OutgoingRequest, Retries, Sign } from './send-request.ts';
