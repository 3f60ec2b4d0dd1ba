const STATE_MACHINE = /^(arn:[^:]+:states:[^:]*:[^:]*):stateMachine:([^:]+)(?::[^:]+)?$/;

/** The ARN of an execution, from the ARN of its state machine; nothing where that is not one. */
export function toExecutionArn(stateMachineArn: string, executionName: string): string | undefined {
  const match = STATE_MACHINE.exec(stateMachineArn);
  return match ? `${match[1]}:execution:${match[2]}:${executionName}` : undefined;
}
