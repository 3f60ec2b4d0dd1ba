/**
 * The SDK's clients, made once per process. Region, endpoints and credentials come from the SDK's own environment;
 * connections are kept alive.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';

/** Clients of the services that the ports stand for. */
export interface AwsClients {
  readonly dynamo: DynamoDBClient;
  readonly sfn: SFNClient;
  readonly sqs: SQSClient;
  readonly eventBridge: EventBridgeClient;
}

/** A call that takes longer is lost (ms): a third of the time limit of a pass at most. */
const HTTP = { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true };

/**
 * Makes the clients. All repeat failed calls a few times, except Step Functions': a start must not be repeated once
 * the fence of its pass is over, so the pass itself asks again. Nor may its client hold calls back, as the mode `adaptive`
 * does, which a variable of the environment could set.
 */
export function createAwsClients(): AwsClients {
  return {
    dynamo: new DynamoDBClient({ maxAttempts: 4, requestHandler: HTTP }),
    sfn: new SFNClient({ maxAttempts: 1, retryMode: 'standard', requestHandler: HTTP }),
    sqs: new SQSClient({ maxAttempts: 4, requestHandler: HTTP }),
    eventBridge: new EventBridgeClient({ maxAttempts: 4, requestHandler: HTTP }),
  };
}
