import { ArnFormat, Stack } from 'aws-cdk-lib';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { acknowledgeWildcards } from './acknowledged-wildcards.ts';
import { SynthesisError } from './synthesis-error.ts';

/** State machines of any team that every installation of the account may run. */
const SHARED_NAMES = 'millrace-*';
/** A policy holds 10,240 characters; each name takes about 400 of them. */
const MAX_NAMES = 20;
const NAME = /^[\w.-]{1,80}$/;

/** Settings of the state machines. */
export interface TeamStateMachinesProps {
  readonly installation: string;
  /** Names of further state machines, of the same account and region. @default none */
  readonly names?: readonly string[];
}

/**
 * Checks the names of state machines.
 *
 * @param given as which they were given
 * @throws SynthesisError `INVALID_CONTEXT` or `INVALID_PROPS` for what is no name, or too many of them.
 */
export function parseStateMachineNames(value: unknown, given: 'context value' | 'prop'): string[] {
  const names: unknown = typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value;
  const isRight = Array.isArray(names) && names.length <= MAX_NAMES && names.every(isName);
  if (isRight) return [...new Set(names)];
  throw new SynthesisError(
    given === 'prop' ? 'INVALID_PROPS' : 'INVALID_CONTEXT',
    `The ${given} "stateMachines" is ${JSON.stringify(value)}; it must be at most ${MAX_NAMES} names of state machines, separated by commas.`,
  );
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value);
}

/**
 * The state machines that teams register as engines over the API: those whose names begin with `millrace-`, and others
 * by name. They are made elsewhere; an installation is only allowed to run them.
 */
export class TeamStateMachines extends Construct {
  readonly #machineArns: readonly string[];
  readonly #executionArns: readonly string[];

  constructor(scope: Construct, id: string, { installation, names = [] }: TeamStateMachinesProps) {
    super(scope, id);
    const arnOf = (resource: string, resourceName: string) =>
      Stack.of(this).formatArn({
        service: 'states',
        resource,
        resourceName,
        arnFormat: ArnFormat.COLON_RESOURCE_NAME,
      });
    // Versions and aliases of a state machine have its name and one more part; the wildcard covers them already.
    this.#machineArns = [SHARED_NAMES, ...names.flatMap((name) => [name, `${name}:*`])].map((name) =>
      arnOf('stateMachine', name),
    );
    this.#executionArns = [SHARED_NAMES, ...names].map((name) => arnOf('execution', `${name}:${installation}-*`));
  }

  /** Allows looking for them, starting executions, and finding, describing and stopping those of this installation. */
  grantRun(grantee: IGrantable): void {
    Grant.addToPrincipal({
      grantee,
      actions: ['states:StartExecution', 'states:ListExecutions', 'states:DescribeStateMachine'],
      resourceArns: [...this.#machineArns],
    });
    Grant.addToPrincipal({
      grantee,
      actions: ['states:DescribeExecution', 'states:StopExecution'],
      resourceArns: [...this.#executionArns],
    });
    acknowledgeWildcards(grantee, 'Teams make these state machines; which of them there are is known at run time.', [
      ...this.#machineArns,
    ]);
    acknowledgeWildcards(grantee, 'Executions are made at run time; the prefix keeps to those of this installation.', [
      ...this.#executionArns,
    ]);
  }
}
