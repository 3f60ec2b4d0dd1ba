import { describe, expect, it } from 'vitest';
import { LAMBDA_ENGINE_DEFINITION } from '../../infra/constructs/lambda-engine-definition.ts';
import { propertyOf, resourcesOf, synthesize } from './synthesize.ts';

describe('the lambda engine', () => {
  const { StartAt, States } = LAMBDA_ENGINE_DEFINITION;
  const task = States[StartAt];

  it('is a STANDARD state machine with the definition as it stands in its file', () => {
    const [machine] = resourcesOf(synthesize(), 'AWS::StepFunctions::StateMachine').values();
    expect(machine?.Properties).toMatchObject({
      StateMachineName: 'millrace-lambda-engine',
      StateMachineType: 'STANDARD',
    });
    expect(JSON.parse(String(propertyOf(machine, 'DefinitionString')))).toEqual(LAMBDA_ENGINE_DEFINITION);
  });

  it('invokes the named function with its payload, and tells it of the attempt in the client context', () => {
    expect(task.Resource).toBe('arn:aws:states:::lambda:invoke');
    expect(task.Parameters).toEqual({
      'FunctionName.$': '$.params.function',
      'Payload.$': '$.params.payload',
      'ClientContext.$': 'States.Base64Encode(States.JsonToString($.millrace))',
    });
    expect(task.OutputPath).toBe('$.Payload');
  });

  it('ends at the attempt’s own timeout', () => {
    expect(task.TimeoutSecondsPath).toBe('$.millrace.timeoutSeconds');
  });

  it('retries only what was never invoked, and catches nothing', () => {
    expect(task.Retry.flatMap(({ ErrorEquals }) => ErrorEquals)).toEqual(['Lambda.TooManyRequestsException']);
    expect(task).not.toHaveProperty('Catch');
  });
});
