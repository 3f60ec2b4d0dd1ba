/** A stack of somebody's: an installation with its functions and its pipeline, what starts it, and who may do what. */
import { join } from 'node:path';
import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import { EventField } from 'aws-cdk-lib/aws-events';
import { AccountRootPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { Millrace } from 'millrace/cdk';

export class ShopStack extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    const millrace = new Millrace(this, 'Millrace', {
      installation: 'shop',
      functionsDirectory: join(import.meta.dirname, 'functions'),
      logRetention: RetentionDays.THREE_MONTHS,
      alarms: { topic: new Topic(this, 'Alarms', { enforceSSL: true }) },
    });
    millrace.addPipeline(join(import.meta.dirname, 'pipeline.yaml'));
    millrace.addTrigger('placed-orders', {
      pipeline: 'orders',
      filter: { source: ['shop.checkout'], 'detail-type': ['OrderPlaced'] },
      input: { lines: EventField.fromPath('$.detail.lines') },
    });
    const clerk = new Role(this, 'Clerk', { assumedBy: new AccountRootPrincipal() });
    millrace.grantRun(clerk);
    new CfnOutput(this, 'ApiUrl', { value: millrace.url });
  }
}
