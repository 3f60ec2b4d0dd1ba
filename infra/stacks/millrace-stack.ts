import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Millrace } from '../constructs/millrace.ts';
import type { MillraceProps } from '../constructs/millrace-props.ts';

/** An installation, and where it is deployed. */
export type MillraceStackProps = StackProps & MillraceProps;

/** A stack of one installation and nothing else, which tells where everything is. */
export class MillraceStack extends Stack {
  /** The installation. */
  readonly millrace: Millrace;

  /** @throws SynthesisError as `Millrace` does */
  constructor(scope: Construct, id: string, props: MillraceStackProps = {}) {
    super(scope, id, { analyticsReporting: false, ...props });
    // `Default` is no part of logical ids: they are short, since there is nothing else in the stack.
    this.millrace = new Millrace(this, 'Default', props);
    const { url, table, payloads, bus, inbox, requests, installation } = this.millrace;
    this.templateOptions.description ??= `Millrace: installation ${installation}`;
    new CfnOutput(this, 'ApiUrl', { value: url });
    new CfnOutput(this, 'TableName', { value: table.tableName });
    new CfnOutput(this, 'PayloadBucketName', { value: payloads.bucketName });
    new CfnOutput(this, 'BusName', { value: bus.eventBusName });
    new CfnOutput(this, 'InboxUrl', { value: inbox.queueUrl });
    new CfnOutput(this, 'RequestsUrl', { value: requests.queueUrl });
  }
}
