import { ApiGatewayManagementApiClient } from '@aws-sdk/client-apigatewaymanagementapi';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod';
import { createDynamoLimitStore } from '#adapters/aws/dynamo-limit-store.ts';
import { createDynamoLiveStore } from '#adapters/aws/dynamo-live-store.ts';
import { createDynamoPipelineStore } from '#adapters/aws/dynamo-pipeline-store.ts';
import { createDynamoReports } from '#adapters/aws/dynamo-reports.ts';
import { createDynamoRunStore } from '#adapters/aws/dynamo-run-store.ts';
import { createEventBridgeFeed } from '#adapters/aws/event-bridge-feed.ts';
import { createGatewayConnections } from '#adapters/aws/gateway-connections.ts';
import { createSqsWatches } from '#adapters/aws/sqs-watches.ts';
import { createTable } from '#adapters/aws/table.ts';
import { DEFAULT_STEP_OPTIONS } from '#domain/draft.ts';
import { createReporting, readEnvironment } from '../environment.ts';
import { createHandler } from './handler.ts';

const environment = readEnvironment(process.env);
const { MILLRACE_LIVE_URL, MILLRACE_LIVE_RULE } = z
  .object({ MILLRACE_LIVE_URL: z.string(), MILLRACE_LIVE_RULE: z.string().min(1) })
  .parse(process.env);
const { logger, count } = createReporting('notifier', environment);

/** Live updates wait for nothing: what is not answered soon is asked again by the client. */
const HTTP = { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true };
const clock = { now: () => Date.now() };
const table = createTable(new DynamoDBClient({ maxAttempts: 4, requestHandler: HTTP }), environment.MILLRACE_TABLE);
const rule = { bus: environment.MILLRACE_BUS, rule: MILLRACE_LIVE_RULE };

/** The Lambda function `notifier`. */
export const handler = createHandler({
  runs: createDynamoRunStore(table, clock),
  pipelines: createDynamoPipelineStore(table),
  limits: createDynamoLimitStore(table),
  reports: createDynamoReports(table, clock),
  live: createDynamoLiveStore(table),
  connections: createGatewayConnections(
    // Connections are managed at the address of the WebSocket itself.
    new ApiGatewayManagementApiClient({ endpoint: MILLRACE_LIVE_URL.replace(/^ws/, 'http'), maxAttempts: 2 }),
  ),
  feed: createEventBridgeFeed(new EventBridgeClient({ maxAttempts: 4, requestHandler: HTTP }), rule),
  watches: createSqsWatches(new SQSClient({ maxAttempts: 4, requestHandler: HTTP }), environment.MILLRACE_INBOX_URL),
  clock,
  engines: new Map([['lambda', { stateMachineArn: environment.MILLRACE_LAMBDA_ENGINE_ARN }]]),
  installation: environment.MILLRACE_INSTALLATION,
  options: { ...DEFAULT_STEP_OPTIONS, tickMs: environment.MILLRACE_TICK_SECONDS * 1000 },
  log: logger,
  count,
});
