import { CreateStateMachineCommand, SFNClient, type SFNClientConfig } from '@aws-sdk/client-sfn';
import { expect } from 'vitest';
import { TEAM_ENGINE } from './pipelines.ts';
import type { CallApi } from './signed-api.ts';

/** Makes the state machine of `TEAM_ENGINE`, as its team would, and registers it over the API. */
export async function registerTeamEngine(call: CallApi, clients: SFNClientConfig): Promise<void> {
  const sfn = new SFNClient(clients);
  const { stateMachineArn } = await sfn.send(
    new CreateStateMachineCommand({
      name: TEAM_ENGINE.stateMachine,
      definition: JSON.stringify(TEAM_ENGINE.definition),
      roleArn: 'arn:aws:iam::000000000000:role/of-a-team',
    }),
  );
  sfn.destroy();
  const answer = await call('PUT', `/v1/engines/${TEAM_ENGINE.name}`, { stateMachineArn });
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 });
}
