/** A chat, or whatever answers to HTTP, is told of runs that failed. */
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Millrace } from '../../infra/index.ts';

/** Called where the installation is made (`infra/app.ts`). */
export function addWebhooks(millrace: Millrace, url: string): void {
  const secret = new Secret(millrace, 'ChatKey', { generateSecretString: { excludePunctuation: true } });
  millrace.addWebhook('chat', { url, secret, states: ['FAILED', 'TIMED_OUT'] });
}
