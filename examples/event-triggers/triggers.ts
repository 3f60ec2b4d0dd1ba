/** Pipelines that other events start: a file that arrives, and the end of another pipeline's run. */
import { EventField } from 'aws-cdk-lib/aws-events';
import type { MillraceStack } from '../../infra/stacks/millrace-stack.ts';

/** Called where the stack is made (`infra/app.ts`). */
export function addTriggers(stack: MillraceStack): void {
  stack.addTrigger('uploads', {
    pipeline: 'etl',
    filter: {
      source: ['aws.s3'],
      'detail-type': ['Object Created'],
      detail: { object: { key: [{ suffix: '.csv' }] } },
    },
    input: { key: EventField.fromPath('$.detail.object.key') },
  });
  stack.addTrigger('after-etl', {
    pipeline: 'report',
    bus: stack.bus,
    filter: { 'detail-type': ['RunChanged'], detail: { pipeline: ['etl'], state: ['SUCCEEDED'] } },
  });
}
