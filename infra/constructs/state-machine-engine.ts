import { ArnFormat, CustomResource, Duration, Fn, Stack, Token } from 'aws-cdk-lib';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { acknowledgeWildcards } from './acknowledged-wildcards.ts';
import { checkEngine, checkEngineName, type EngineMachine, type EngineSettings } from './engine-settings.ts';

/** What runs on an engine, and how. */
export type StateMachineEngineOptions = EngineSettings & EngineMachine;

/** An engine, and who works with it. */
export interface StateMachineEngineProps {
  readonly options: StateMachineEngineOptions;
  readonly installation: string;
  /** Registers it. */
  readonly registrar: IFunction;
  /** Our own functions that start, watch and stop executions. */
  readonly runners: readonly IFunction[];
}

/** CloudFormation gives up on a registration after so long; the registrar answers before. */
const SERVICE_TIMEOUT = Duration.minutes(5);

/**
 * A state machine as an engine: registered when the stack is deployed, changed when this is, and removed with it. What
 * runs on it then finishes. An engine of the name that is there already, and not by this construct, fails the deployment.
 */
export class StateMachineEngine extends Construct {
  /** The name that nodes give. */
  readonly engineName: string;
  readonly #machineArns: readonly string[];
  readonly #executionArn: string;

  /** @throws SynthesisError `INVALID_ENGINE` for what the API would refuse, as far as it can be seen */
  constructor(scope: Construct, id: string, { options, installation, registrar, runners }: StateMachineEngineProps) {
    checkEngineName(id);
    checkEngine(options, options);
    super(scope, id);
    this.engineName = id;
    const machineName = nameOf(options);
    // Versions and aliases have the name and one more part.
    this.#machineArns = [machineName, `${machineName}:*`].map((name) => this.placeOf('stateMachine', name));
    this.#executionArn = this.placeOf('execution', `${machineName}:${installation}-*`);
    const grants = [...runners.flatMap((runner) => this.grantRun(runner)), this.grantLook(registrar)];
    const { maxConcurrent, labels, paramsSchema, heartbeatSeconds } = options;
    const resource = new CustomResource(this, 'Resource', {
      resourceType: 'Custom::MillraceEngine',
      serviceToken: registrar.functionArn,
      serviceTimeout: SERVICE_TIMEOUT,
      properties: {
        Name: id,
        // As one text: CloudFormation makes text of every number.
        Registration: Stack.of(this).toJsonString({
          stateMachineArn: arnOf(options),
          maxConcurrent,
          labels,
          paramsSchema,
          heartbeatSeconds,
        }),
      },
    });
    // An engine takes work as soon as it is registered, and is removed before anything that it needs.
    for (const grant of grants) grant.applyBefore(resource);
    resource.node.addDependency(registrar);
  }

  private placeOf(resource: string, resourceName: string): string {
    const arnFormat = ArnFormat.COLON_RESOURCE_NAME;
    return Stack.of(this).formatArn({ service: 'states', resource, resourceName, arnFormat });
  }

  private grantRun(grantee: IGrantable): Grant[] {
    const machine = Grant.addToPrincipal({
      grantee,
      actions: ['states:StartExecution', 'states:ListExecutions', 'states:DescribeStateMachine'],
      resourceArns: [...this.#machineArns],
    });
    const executions = Grant.addToPrincipal({
      grantee,
      actions: ['states:DescribeExecution', 'states:StopExecution'],
      resourceArns: [this.#executionArn],
    });
    acknowledgeVersions(grantee, this.#machineArns);
    acknowledgeWildcards(grantee, 'Executions are made at run time; the prefix keeps to those of this installation.', [
      this.#executionArn,
    ]);
    return [machine, executions];
  }

  private grantLook(grantee: IGrantable): Grant {
    const actions = ['states:DescribeStateMachine'];
    const grant = Grant.addToPrincipal({ grantee, actions, resourceArns: [...this.#machineArns] });
    acknowledgeVersions(grantee, this.#machineArns);
    return grant;
  }
}

function acknowledgeVersions(grantee: IGrantable, arns: readonly string[]): void {
  acknowledgeWildcards(grantee, 'Versions and aliases of this one state machine are made by whoever makes it.', arns);
}

/** As text where it is known, so that policies can be read. */
function nameOf(machine: EngineMachine): string {
  if (machine.stateMachine instanceof StateMachine) return machine.stateMachine.stateMachineName;
  const arn = arnOf(machine);
  const known = Token.isUnresolved(arn) ? undefined : arn.split(':')[6];
  return known ?? Fn.select(6, Fn.split(':', arn));
}

function arnOf(machine: EngineMachine): string {
  return machine.stateMachine ? machine.stateMachine.stateMachineArn : machine.stateMachineArn;
}
