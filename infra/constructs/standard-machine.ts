import { Validations } from 'aws-cdk-lib';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import { DefinitionBody, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';

/** A state machine of one state, of which each attempt is an execution. */
export interface StandardMachineProps {
  /** @default CloudFormation's */
  readonly stateMachineName?: string;
  readonly comment: string;
  /** In Amazon States Language; may hold tokens. */
  readonly definition: string;
  readonly role: IRole;
}

/** Makes a STANDARD state machine without logs and traces. */
export function createStandardMachine(scope: Construct, props: StandardMachineProps): StateMachine {
  const { definition, ...rest } = props;
  const machine = new StateMachine(scope, 'StateMachine', {
    stateMachineType: StateMachineType.STANDARD,
    definitionBody: DefinitionBody.fromString(definition),
    ...rest,
  });
  Validations.of(machine).acknowledge(
    {
      id: 'AwsSolutions-SF1',
      reason:
        'A STANDARD execution keeps its history for 90 days; logging every event would cost more than the execution.',
    },
    {
      id: 'AwsSolutions-SF2',
      reason: 'One state and one call: a trace would show nothing that the history does not.',
    },
  );
  return machine;
}
