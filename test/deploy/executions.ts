/** The executions that an emulator has, as Step Functions lists them. */
import { ListExecutionsCommand, ListStateMachinesCommand, SFNClient, type SFNClientConfig } from '@aws-sdk/client-sfn';

/** An execution of a run. */
export interface Execution {
  readonly arn: string;
  readonly status: string;
}

/** All executions of a run, of every state machine. */
export async function executionsOf(clients: SFNClientConfig, run: string): Promise<Execution[]> {
  const sfn = new SFNClient(clients);
  try {
    const { stateMachines = [] } = await sfn.send(new ListStateMachinesCommand({}));
    const lists = await Promise.all(
      stateMachines.map(({ stateMachineArn }) =>
        sfn.send(new ListExecutionsCommand({ stateMachineArn, maxResults: 1000 })),
      ),
    );
    return lists
      .flatMap(({ executions = [] }) => executions)
      .filter(({ name }) => name?.includes(`-${run}-`))
      .map(({ executionArn = '', status = '' }) => ({ arn: executionArn, status }));
  } finally {
    sfn.destroy();
  }
}
