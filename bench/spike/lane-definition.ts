/**
 * The state machine of the lane, as it would be on AWS (EXPRESS, JSONata): claim, invoke, put the result, tell.
 *
 * An Express execution may run more than once, and StartExecution makes another each time that it is called. So the
 * first state takes a claim that can be taken once. Who runs through it has a mark of its own (`owner`): a write that
 * is repeated because its answer was lost finds its own mark, while a second run of the same execution does not.
 */

/** Where the machine writes. */
export interface LaneResources {
  readonly table: string;
  readonly inboxUrl: string;
}

/** Longest time of an Express execution (s). https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html */
export const EXPRESS_SECONDS = 300;

/** A state of the definition. */
export type LaneState = {
  readonly Type: 'Pass' | 'Task' | 'Succeed';
  readonly Resource?: string;
  readonly Arguments?: unknown;
  readonly Output?: unknown;
  readonly Assign?: Readonly<Record<string, unknown>>;
  readonly TimeoutSeconds?: unknown;
  readonly Retry?: readonly { readonly ErrorEquals: readonly string[]; readonly MaxAttempts: number }[];
  readonly Catch?: readonly {
    readonly ErrorEquals: readonly string[];
    readonly Assign?: Readonly<Record<string, unknown>>;
    readonly Output?: unknown;
    readonly Next: string;
  }[];
  readonly Next?: string;
  readonly End?: true;
};

/** The definition. */
export type LaneDefinition = {
  readonly QueryLanguage: 'JSONata';
  readonly TimeoutSeconds: number;
  readonly StartAt: string;
  readonly States: Readonly<Record<string, LaneState>>;
};

const taken = ['DynamoDB.ConditionalCheckFailedException'];
const owned = {
  ConditionExpression: 'attribute_not_exists(pk) OR o = :owner',
  ExpressionAttributeValues: { ':owner': { S: '{% $owner %}' } },
};
/** What is only late: it is asked again, for as long as the execution lasts. */
const patiently = (...errors: string[]) => [
  {
    ErrorEquals: errors,
    IntervalSeconds: 1,
    BackoffRate: 2,
    MaxDelaySeconds: 20,
    MaxAttempts: 20,
    JitterStrategy: 'FULL',
  },
];

/** Makes the definition. */
export function laneDefinition({ table, inboxUrl }: LaneResources): LaneDefinition {
  const claim = {
    pk: { S: '{% $states.input.lane.pk %}' },
    sk: { S: '{% $states.input.lane.claim %}' },
    o: { S: '{% $owner %}' },
    a: { N: '{% $string($begunAt) %}' },
    u: { N: '{% $string($begunAt + 300000) %}' },
    ttl: { N: '{% $string($states.input.lane.ttl) %}' },
  };
  const result = `{% $merge([
    { 'pk': { 'S': $lane.pk }, 'sk': { 'S': $lane.result }, 'o': { 'S': $owner }, 'ttl': { 'N': $string($lane.ttl) },
      'a': { 'N': $string($begunAt) }, 'd': { 'N': $string($endedAt - $begunAt) },
      's': { 'S': $states.input.status = 'SUCCEEDED' ? 'S' : 'F' } },
    $exists($states.input.output) ? { 't': { 'S': $states.input.output } } : {},
    $exists($states.input.error) ? { 'en': { 'S': $states.input.error.name }, 'em': { 'S': $states.input.error.message } } : {}
  ]) %}`;
  const told = `{% $string({ 'kind': 'execution', 'name': $lane.name, 'status': $states.input.status,
    'output': $states.input.output, 'startDate': $begunAt, 'stopDate': $endedAt }) %}`;
  const failed = `{% { 'status': 'FAILED', 'error': { 'name': $states.errorOutput.Error, 'message':
    $substring($states.errorOutput.Cause, 0, 1) = '{' ? $parse($states.errorOutput.Cause).errorMessage : $states.errorOutput.Cause } } %}`;
  return {
    QueryLanguage: 'JSONata',
    TimeoutSeconds: EXPRESS_SECONDS,
    StartAt: 'Begin',
    States: {
      Begin: {
        Type: 'Pass',
        Assign: { owner: '{% $uuid() %}', begunAt: '{% $millis() %}', lane: '{% $states.input.lane %}' },
        Next: 'Claim',
      },
      Claim: {
        Type: 'Task',
        Resource: 'arn:aws:states:::dynamodb:putItem',
        Arguments: { TableName: table, Item: claim, ...owned },
        Output: '{% $states.input %}',
        Retry: patiently(
          'DynamoDB.ThrottlingException',
          'DynamoDB.AmazonDynamoDBException',
          'DynamoDB.SdkClientException',
        ),
        Catch: [{ ErrorEquals: taken, Next: 'NotMine' }],
        Next: 'Invoke',
      },
      Invoke: {
        Type: 'Task',
        Resource: 'arn:aws:states:::lambda:invoke',
        Arguments: {
          FunctionName: '{% $states.input.params.function %}',
          Payload: '{% $exists($states.input.params.payload) ? $states.input.params.payload : {} %}',
          ClientContext: '{% $base64encode($string($states.input.millrace)) %}',
        },
        TimeoutSeconds: '{% $states.input.millrace.timeoutSeconds %}',
        Assign: { endedAt: '{% $millis() %}' },
        Output: "{% { 'status': 'SUCCEEDED', 'output': $string($states.result.Payload) } %}",
        Retry: patiently('Lambda.TooManyRequestsException'),
        Catch: [{ ErrorEquals: ['States.ALL'], Assign: { endedAt: '{% $millis() %}' }, Output: failed, Next: 'Put' }],
        Next: 'Put',
      },
      Put: {
        Type: 'Task',
        Resource: 'arn:aws:states:::dynamodb:putItem',
        Arguments: { TableName: table, Item: result, ...owned },
        Output: '{% $states.input %}',
        Retry: patiently(
          'DynamoDB.ThrottlingException',
          'DynamoDB.AmazonDynamoDBException',
          'DynamoDB.SdkClientException',
        ),
        Catch: [{ ErrorEquals: taken, Next: 'NotMine' }],
        Next: 'Tell',
      },
      Tell: {
        Type: 'Task',
        Resource: 'arn:aws:states:::sqs:sendMessage',
        Arguments: { QueueUrl: inboxUrl, MessageBody: told },
        Retry: patiently('States.ALL'),
        End: true,
      },
      NotMine: { Type: 'Succeed' },
    },
  };
}
