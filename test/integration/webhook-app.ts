/** The stack with webhooks to one server: a CDK app for the development host. */
import { App, SecretValue } from 'aws-cdk-lib';
import { addWebhooks } from '../../examples/webhooks/webhooks.ts';
import { MillraceStack } from '../../infra/stacks/millrace-stack.ts';

const server = process.env['WEBHOOK_SERVER'] ?? '';
const app = new App({ outdir: process.env['CDK_OUTDIR'] ?? 'cdk.out' });
const { millrace } = new MillraceStack(app, 'Millrace');
addWebhooks(millrace, `${server}/chat`);
const secret = { secretValue: SecretValue.secretsManager('shared', { jsonField: 'hook' }) };
for (const name of ['stubborn', 'restarted', 'paced']) {
  const ratePerSecond = name === 'paced' ? 5 : 100;
  millrace.addWebhook(name, { url: `${server}/${name}`, secret, pipelines: [name], ratePerSecond, maxRetries: 1 });
}
millrace.addWebhook('elsewhere', { url: 'https://hooks.example.com', secret });
