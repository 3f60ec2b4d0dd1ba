/** The ports over AWS, for the composition roots. */
import type {
  Clock,
  DueIndex,
  EventBus,
  Executions,
  Ids,
  Inbox,
  LimitStore,
  Memo,
  PipelineStore,
  Reports,
  RunStore,
  StartCounts,
} from '#ports/index.ts';
import type { LiveStore } from '#ports/live.ts';
import { type CallAllowance, createCallAllowance } from './call-allowance.ts';
import type { AwsClients } from './clients.ts';
import { createDynamoDueIndex } from './dynamo-due.ts';
import { createDynamoLimitStore } from './dynamo-limit-store.ts';
import { createDynamoLiveStore } from './dynamo-live-store.ts';
import { createDynamoMemo } from './dynamo-memo.ts';
import { createDynamoPipelineStore } from './dynamo-pipeline-store.ts';
import { createDynamoReports } from './dynamo-reports.ts';
import { createDynamoRunStore } from './dynamo-run-store.ts';
import { createDynamoStartCounts } from './dynamo-start-counts.ts';
import { createEventBridgeBus } from './event-bridge-bus.ts';
import { createNodeIds } from './node-ids.ts';
import { createS3Payloads, type S3Payloads } from './s3-payloads.ts';
import { type CallingFunction, callRatesOf } from './service-quotas.ts';
import { createSfnExecutions } from './sfn-executions.ts';
import { shareLists } from './shared-lists.ts';
import { createSqsInbox } from './sqs-inbox.ts';
import { createTable } from './table.ts';

export { type AwsClients, createAwsClients } from './clients.ts';
export type { CallingFunction } from './service-quotas.ts';

/** Where an installation's resources are. */
export interface AwsPortsOptions {
  /** Name of the table. */
  readonly table: string;
  /** Name of the event bus. */
  readonly bus: string;
  /** URL of the inbox queue. */
  readonly inboxUrl: string;
  /** Name of the bucket for large payloads. */
  readonly payloadBucket: string;
  readonly clients: AwsClients;
  /** How many calls of Step Functions may be made. @default every call */
  readonly allowance?: CallAllowance;
  /** @default the system's clock */
  readonly clock?: Clock;
}

/** All ports but the evaluator, which needs no AWS. */
export interface AwsPorts {
  readonly runs: RunStore;
  readonly limits: LimitStore;
  readonly pipelines: PipelineStore;
  readonly due: DueIndex;
  readonly memo: Memo;
  readonly startCounts: StartCounts;
  readonly reports: Reports;
  readonly payloads: S3Payloads;
  readonly executions: Executions;
  readonly live: LiveStore;
  readonly inbox: Inbox;
  readonly bus: EventBus;
  readonly ids: Ids;
  readonly clock: Clock;
}

/** Makes the ports. */
export function createAwsPorts(options: AwsPortsOptions): AwsPorts {
  const { clients, clock = { now: () => Date.now() } } = options;
  const table = createTable(clients.dynamo, options.table);
  return {
    runs: createDynamoRunStore(table, clock),
    limits: createDynamoLimitStore(table),
    pipelines: createDynamoPipelineStore(table),
    due: createDynamoDueIndex(table),
    memo: createDynamoMemo(table),
    startCounts: createDynamoStartCounts(table),
    reports: createDynamoReports(table, clock),
    payloads: createS3Payloads({ bucket: options.payloadBucket, folder: 'inputs' }),
    executions: shareLists(createSfnExecutions(clients.sfn, options.allowance)),
    live: createDynamoLiveStore(table),
    inbox: createSqsInbox(clients.sqs, options.inboxUrl),
    bus: createEventBridgeBus(clients.eventBridge, options.bus),
    ids: createNodeIds(),
    clock,
  };
}

/** How many calls of Step Functions this instance of a function may make, in its region. */
export function allowanceOf(caller: CallingFunction, region: string): CallAllowance {
  return createCallAllowance(callRatesOf(caller, region));
}
