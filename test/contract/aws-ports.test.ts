/** The ports as a composition root makes them: endpoints from the environment, the SDK's own settings as they ship. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AwsClients, createAwsClients, createAwsPorts } from '#adapters/aws/index.ts';
import { nextId } from './sample-run.ts';
import { failure, startScriptedService } from './scripted-service.ts';

const MACHINE = 'arn:aws:states:eu-central-1:123456789012:stateMachine:millrace-lambda';

type Service = Awaited<ReturnType<typeof startScriptedService>>;

let services: { dynamo: Service; sfn: Service; sqs: Service; bus: Service };
let clients: AwsClients;

beforeEach(async () => {
  services = {
    dynamo: await startScriptedService('DynamoDB_20120810'),
    sfn: await startScriptedService('AWSStepFunctions'),
    sqs: await startScriptedService('AmazonSQS'),
    bus: await startScriptedService('AWSEvents'),
  };
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  vi.stubEnv('AWS_CONFIG_FILE', '/nowhere');
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nowhere');
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', services.dynamo.clientConfig.endpoint);
  vi.stubEnv('AWS_ENDPOINT_URL_SFN', services.sfn.clientConfig.endpoint);
  vi.stubEnv('AWS_ENDPOINT_URL_SQS', services.sqs.clientConfig.endpoint);
  vi.stubEnv('AWS_ENDPOINT_URL_EVENTBRIDGE', services.bus.clientConfig.endpoint);
  clients = createAwsClients();
});

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const client of Object.values(clients)) client.destroy();
  for (const service of Object.values(services)) await service.close();
});

function openPorts() {
  return createAwsPorts({
    table: 'millrace',
    bus: 'millrace',
    inboxUrl: `${services.sqs.clientConfig.endpoint}/123456789012/inbox`,
    payloadBucket: 'millrace-payloads',
    clients,
  });
}

describe('createAwsPorts', () => {
  it('asks each service at its endpoint', async () => {
    const ports = openPorts();
    services.dynamo.script(() => ({ body: {} }));
    services.sfn.script(() => ({ body: { executionArn: 'arn', startDate: 1 } }));
    services.bus.script(() => ({ body: { FailedEntryCount: 0, Entries: [{ EventId: 'e' }] } }));
    services.sqs.script(() => ({ body: { Successful: [] } }));
    expect(await ports.runs.readRun(nextId())).toBeUndefined();
    expect(await ports.pipelines.readHead('etl')).toBeUndefined();
    expect(await ports.executions.start(MACHINE, 'a', '{}')).toEqual({ kind: 'started' });
    await ports.bus.publish([{ source: 'millrace.api', detailType: 'EngineChanged', detail: {} }]);
    await ports.inbox.ringAll([{ kind: 'run', id: 'run-1' }]);
    expect(Object.values(services).map((service) => service.calls.length)).toEqual([2, 1, 1, 1]);
    expect(Math.abs(ports.clock.now() - Date.now())).toBeLessThan(60_000);
  });

  it('never repeats a call of Step Functions by itself: the fence of a pass would not hold', async () => {
    const { executions } = openPorts();
    services.sfn.script(() => failure('ThrottlingException', 'Rate exceeded'));
    expect(await executions.start(MACHINE, 'a', '{}')).toEqual({ kind: 'later', message: 'Rate exceeded' });
    services.sfn.script(() => failure('InternalFailure', 'no', 500));
    expect(await executions.start(MACHINE, 'a', '{}')).toEqual({ kind: 'later', message: 'no' });
    expect(services.sfn.calls).toHaveLength(1);
  });

  it('repeats a read of the table that was throttled', async () => {
    const { runs } = openPorts();
    services.dynamo.script(() =>
      services.dynamo.calls.length === 1
        ? failure('ProvisionedThroughputExceededException', 'slow down')
        : { body: {} },
    );
    expect(await runs.readRun(nextId())).toBeUndefined();
    expect(services.dynamo.calls).toHaveLength(2);
  });
});
