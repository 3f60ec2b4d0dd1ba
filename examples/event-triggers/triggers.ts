/** Pipelines that other events start: a file that arrives, and the end of another pipeline's run. */
import { EventField } from 'aws-cdk-lib/aws-events';
import type { Millrace } from '../../infra/index.ts';

/** Called where the installation is made (`infra/app.ts`). */
export function addTriggers(millrace: Millrace): void {
  millrace.addTrigger('uploads', {
    pipeline: 'etl',
    filter: {
      source: ['aws.s3'],
      'detail-type': ['Object Created'],
      detail: { object: { key: [{ suffix: '.csv' }] } },
    },
    input: { key: EventField.fromPath('$.detail.object.key') },
  });
  millrace.addTrigger('after-etl', {
    pipeline: 'report',
    bus: millrace.bus,
    filter: { 'detail-type': ['RunChanged'], detail: { pipeline: ['etl'], state: ['SUCCEEDED'] } },
  });
}
