import { ArnFormat, Stack } from 'aws-cdk-lib';
import { Grant, type IGrantable, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { acknowledgeWildcards } from './acknowledged-wildcards.ts';
import { LAMBDA_ENGINE_DEFINITION } from './lambda-engine-definition.ts';
import { createStandardMachine } from './standard-machine.ts';

/** Settings of the engine. */
export interface LambdaEngineProps {
  readonly installation: string;
}

/** The built-in engine `lambda`: a state machine that may invoke just the functions it was given. */
export class LambdaEngine extends Construct {
  readonly stateMachine: StateMachine;
  readonly #role: Role;
  readonly #executionArn: string;

  constructor(scope: Construct, id: string, { installation }: LambdaEngineProps) {
    super(scope, id);
    const stateMachineName = `${installation}-lambda-engine`;
    this.#role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('states.amazonaws.com') });
    this.stateMachine = createStandardMachine(this, {
      stateMachineName,
      comment: 'Millrace: one execution for each attempt of a node of the engine "lambda"',
      definition: JSON.stringify(LAMBDA_ENGINE_DEFINITION),
      role: this.#role,
    });
    this.#executionArn = Stack.of(this).formatArn({
      service: 'states',
      resource: 'execution',
      resourceName: `${stateMachineName}:${installation}-*`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
  }

  /** Allows the engine to invoke a function. */
  allowInvoking(target: IFunction): void {
    Grant.addToPrincipal({
      grantee: this.#role,
      actions: ['lambda:InvokeFunction'],
      resourceArns: [target.functionArn],
    });
  }

  /** Allows starting executions of this engine, and finding, describing and stopping those of this installation. */
  grantRun(grantee: IGrantable): void {
    Grant.addToPrincipal({
      grantee,
      actions: ['states:StartExecution', 'states:ListExecutions'],
      resourceArns: [this.stateMachine.stateMachineArn],
    });
    Grant.addToPrincipal({
      grantee,
      actions: ['states:DescribeExecution', 'states:StopExecution'],
      resourceArns: [this.#executionArn],
    });
    const reason = 'Executions are made at run time; the prefix keeps to those of this installation and engine.';
    acknowledgeWildcards(grantee, reason, [this.#executionArn]);
  }
}
