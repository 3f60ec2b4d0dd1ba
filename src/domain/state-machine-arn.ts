/** ARNs of state machines, and what an installation needs to be allowed to run one. */
import type { JsonObject } from './json.ts';

/** A state machine, or a version or alias of one. */
export interface StateMachineName {
  readonly partition: string;
  readonly region: string;
  readonly account: string;
  readonly name: string;
  /** A version or an alias. */
  readonly qualifier?: string;
}

const ARN = /^arn:(aws[a-z-]*):states:([a-z0-9-]+):(\d{12}):stateMachine:([\w.-]{1,80})(?::([\w.-]{1,80}))?$/;

/** What {@link parseStateMachineArn} takes, for people. */
export const STATE_MACHINE_ARN_ALLOWED = 'arn:aws:states:REGION:ACCOUNT:stateMachine:NAME';

/** Reads the ARN of a state machine; nothing where a text is none. */
export function parseStateMachineArn(arn: string): StateMachineName | undefined {
  const [, partition, region, account, name, qualifier] = ARN.exec(arn) ?? [];
  if (!partition || !region || !account || !name) return undefined;
  return { partition, region, account, name, ...(qualifier !== undefined && { qualifier }) };
}

/** Whether two state machines are in the same account and region. */
export function isSamePlace(one: StateMachineName, other: StateMachineName): boolean {
  return one.partition === other.partition && one.region === other.region && one.account === other.account;
}

/**
 * The statements of IAM by which the roles of an installation may run a state machine.
 * @param installation name of the installation, the prefix of execution names
 */
export function runStatements(machine: StateMachineName, installation: string): readonly JsonObject[] {
  const { partition, region, account, name } = machine;
  const place = `arn:${partition}:states:${region}:${account}`;
  return [
    {
      Effect: 'Allow',
      Action: ['states:StartExecution', 'states:ListExecutions', 'states:DescribeStateMachine'],
      Resource: [`${place}:stateMachine:${name}`, `${place}:stateMachine:${name}:*`],
    },
    {
      Effect: 'Allow',
      Action: ['states:DescribeExecution', 'states:StopExecution'],
      Resource: [`${place}:execution:${name}:${installation}-*`],
    },
  ];
}
