import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { ListStateMachinesCommand, SFNClient } from '@aws-sdk/client-sfn';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Clients } from './deployment.ts';

/** What there still is of the kinds that hold a team's data or work, by name. */
export async function whatIsLeft(clients: Clients) {
  const dynamo = new DynamoDBClient(clients);
  const sqs = new SQSClient(clients);
  const sfn = new SFNClient(clients);
  const s3 = new S3Client({ ...clients, forcePathStyle: true });
  const [{ TableNames = [] }, { QueueUrls = [] }, { stateMachines = [] }, { Buckets = [] }] = await Promise.all([
    dynamo.send(new ListTablesCommand({})),
    sqs.send(new ListQueuesCommand({})),
    sfn.send(new ListStateMachinesCommand({})),
    s3.send(new ListBucketsCommand({})),
  ]);
  for (const client of [dynamo, sqs, sfn, s3]) client.destroy();
  return {
    tables: TableNames,
    queues: QueueUrls,
    stateMachines: stateMachines.map(({ name }) => name),
    buckets: Buckets.map(({ Name }) => Name),
  };
}
