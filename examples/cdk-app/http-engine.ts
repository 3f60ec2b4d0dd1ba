/** An engine whose nodes call an API, with a key that they never see. */
import { SecretValue, type Stack } from 'aws-cdk-lib';
import { Authorization, Connection } from 'aws-cdk-lib/aws-events';
import type { Millrace } from 'millrace/cdk';

/** Called where the installation is made; the key is a secret of the account. */
export function addWarehouse(stack: Stack, millrace: Millrace): void {
  const key = SecretValue.secretsManager('warehouse-key');
  const connection = new Connection(stack, 'Warehouse', { authorization: Authorization.apiKey('x-api-key', key) });
  millrace.addHttpEngine('warehouse', {
    baseUrl: 'https://warehouse.example.com/v1',
    connection,
    maxConcurrent: 10,
  });
}
