import { CreateStateMachineCommand, SFNClient, type SFNClientConfig } from '@aws-sdk/client-sfn';
import { expect } from 'vitest';
import { REPORTING_ENGINE } from './pipelines.ts';
import type { CallApi } from './signed-api.ts';

/** Makes the state machine of `REPORTING_ENGINE`, as another team would, and registers it over the API. */
export async function registerReportingEngine(call: CallApi, clients: SFNClientConfig): Promise<void> {
  const sfn = new SFNClient(clients);
  const { stateMachineArn } = await sfn.send(
    new CreateStateMachineCommand({
      name: REPORTING_ENGINE.stateMachine,
      definition: JSON.stringify(REPORTING_ENGINE.definition),
      roleArn: 'arn:aws:iam::000000000000:role/of-a-team',
    }),
  );
  sfn.destroy();
  const answer = await call('PUT', `/v1/engines/${REPORTING_ENGINE.name}`, { stateMachineArn });
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 });
}
