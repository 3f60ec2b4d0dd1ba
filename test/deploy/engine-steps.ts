import {
  CreateStateMachineCommand,
  DescribeStateMachineCommand,
  SFNClient,
  type SFNClientConfig,
} from '@aws-sdk/client-sfn';
import { expect } from 'vitest';
import { TEAM_ENGINE } from './pipelines.ts';
import type { CallApi } from './signed-api.ts';

/** Makes the state machine of `TEAM_ENGINE`, as its team would, and registers it over the API. It has the role of the built-in engine. */
export async function registerTeamEngine(call: CallApi, clients: SFNClientConfig): Promise<void> {
  const sfn = new SFNClient(clients);
  const { items } = (await call('GET', '/v1/engines')).body;
  const lambda = items.find(({ name }: { name: string }) => name === 'lambda');
  const builtIn = await sfn.send(new DescribeStateMachineCommand({ stateMachineArn: lambda.stateMachineArn }));
  const { stateMachineArn } = await sfn.send(
    new CreateStateMachineCommand({
      name: TEAM_ENGINE.stateMachine,
      definition: JSON.stringify(TEAM_ENGINE.definition),
      roleArn: builtIn.roleArn,
    }),
  );
  sfn.destroy();
  const answer = await call('PUT', `/v1/engines/${TEAM_ENGINE.name}`, { stateMachineArn });
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 });
}
