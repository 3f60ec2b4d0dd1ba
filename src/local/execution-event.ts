import type { NewEvent } from '#local/event-bus.ts';
import type { ExecutionRecord } from '#local/execution-store.ts';

/** Above this size of input and output, as they are escaped in the event, they are left out: 248 KiB. */
const maxEscapedBytes = 248 * 1024;

/**
 * The event that Step Functions puts on the default bus when an execution's status changes. It has no error and no
 * cause: who wants them has to describe the execution.
 */
export function statusChangeEvent(record: ExecutionRecord): NewEvent {
  const outputBytes = record.output === undefined ? 0 : escapedBytes(record.output);
  const hasOutput = outputBytes <= maxEscapedBytes;
  const hasInput = escapedBytes(record.input) + outputBytes <= maxEscapedBytes;
  return {
    source: 'aws.states',
    detailType: 'Step Functions Execution Status Change',
    resources: [record.arn],
    time: record.stopDate ?? record.startDate,
    detail: {
      executionArn: record.arn,
      stateMachineArn: record.machineArn,
      name: record.name,
      status: record.status,
      startDate: record.startDate,
      stopDate: record.stopDate ?? null,
      input: hasInput ? record.input : null,
      output: record.output !== undefined && hasOutput ? record.output : null,
      inputDetails: { included: hasInput },
      outputDetails: record.output === undefined ? null : { included: hasOutput },
    },
  };
}

function escapedBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
