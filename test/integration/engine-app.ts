/** The stack with the engine of an example, and with one that only AWS can run: a CDK app for the development host. */
import { join } from 'node:path';
import { App, SecretValue } from 'aws-cdk-lib';
import { Authorization, Connection } from 'aws-cdk-lib/aws-events';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { addEngines } from '../../examples/engines/engines.ts';
import { MillraceStack } from '../../infra/stacks/millrace-stack.ts';

const functionsDirectory = join(import.meta.dirname, '../../examples/engines/functions');
const app = new App({ outdir: process.env['CDK_OUTDIR'] ?? 'cdk.out' });
const { millrace } = new MillraceStack(app, 'Millrace', { functionsDirectory });
addEngines(millrace);
const apiKey = SecretValue.secretsManager(new Secret(millrace, 'CrmKey').secretArn);
const connection = new Connection(millrace, 'Crm', { authorization: Authorization.apiKey('x-api-key', apiKey) });
millrace.addHttpEngine('crm', { baseUrl: 'https://api.example.com', connection });
