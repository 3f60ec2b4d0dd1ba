import { type App, Duration, SecretValue } from 'aws-cdk-lib';
import { Authorization, Connection } from 'aws-cdk-lib/aws-events';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { MillraceStack } from '../../infra/index.ts';
import { createStack, ECHO, folderOf } from './synthesize.ts';

const NIGHTLY = 'arn:aws:states:eu-central-1:111122223333:stateMachine:nightly-report';

/** A stack with everything that the library makes: functions, engines of all kinds, triggers, a webhook, a pipeline. */
export function createEverything(app: App): MillraceStack {
  const stack = createStack(app, {
    functionsDirectory: folderOf({ 'one.ts': ECHO, 'two/index.ts': ECHO }),
    stateMachines: ['nightly'],
    tickRate: Duration.minutes(2),
  });
  const { millrace } = stack;
  millrace.addStateMachineEngine('report', { stateMachineArn: NIGHTLY, maxConcurrent: 2 });
  const authorization = Authorization.apiKey('x-key', SecretValue.secretsManager('crm-key'));
  const connection = new Connection(stack, 'Crm', { authorization });
  millrace.addHttpEngine('crm', { baseUrl: 'https://api.example.com', connection });
  const filter = { source: ['acme.shop'], 'detail-type': ['OrderPlaced'] };
  millrace.addTrigger('orders', { pipeline: 'etl', filter });
  millrace.addTrigger('after-etl', {
    pipeline: 'report',
    bus: millrace.bus,
    filter: { 'detail-type': ['RunChanged'], detail: { pipeline: ['etl'], state: ['SUCCEEDED'] } },
  });
  millrace.addWebhook('chat', {
    url: 'https://hooks.example.com',
    secret: Secret.fromSecretNameV2(stack, 'Chat', 'chat'),
  });
  millrace.addPipeline({ name: 'etl', nodes: [{ id: 'a', params: { function: 'one' } }] });
  return stack;
}
