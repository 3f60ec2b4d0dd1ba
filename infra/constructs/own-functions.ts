import type { IFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Bundle } from './bundle.ts';
import { NodeFunction } from './node-function.ts';
import { OWN_FUNCTIONS, type OwnFunction, PASS_SECONDS } from './settings.ts';

/** Settings of Millrace's own functions. */
export interface OwnFunctionsProps {
  readonly installation: string;
  readonly logRetention: RetentionDays;
  /** What each of them finds in its environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly bundles: Readonly<Record<OwnFunction, Bundle>>;
}

/** The names that our own functions have in Lambda. */
export function ownFunctionNames(installation: string): string[] {
  return [...OWN_FUNCTIONS, 'notifier'].map((name) => `${installation}-${name}`);
}

/** Millrace's own functions, all with the same environment; what each may do is granted where the edges are made. */
export class OwnFunctions extends Construct {
  /** Answers the HTTP API and runs the passes of users' commands. */
  readonly api: LambdaFunction;
  /** Reads the inbox, is woken by the tick, and runs passes. */
  readonly scheduler: IFunction;
  /** Stores what other systems ask for. */
  readonly intake: IFunction;

  constructor(scope: Construct, id: string, props: OwnFunctionsProps) {
    super(scope, id);
    const add = (
      name: OwnFunction,
      description: string,
      options: { timeoutSeconds: number; recursiveLoop?: RecursiveLoop },
    ) =>
      new NodeFunction(this, name, {
        functionName: `${props.installation}-${name}`,
        description,
        bundle: props.bundles[name],
        environment: props.environment,
        logRetention: props.logRetention,
        ...options,
      }).function;

    // HTTP APIs give up after 30 s; the function ends before, so that its caller gets an answer and the fence of P holds.
    this.api = add('api', 'Millrace: answers the HTTP API', { timeoutSeconds: PASS_SECONDS - 1 });
    // A wide run rings itself through the inbox for the rest of its nodes, which Lambda would take for a loop.
    this.scheduler = add('scheduler', 'Millrace: runs passes', {
      timeoutSeconds: PASS_SECONDS,
      recursiveLoop: RecursiveLoop.ALLOW,
    });
    this.intake = add('intake', 'Millrace: takes requests from the bus', { timeoutSeconds: PASS_SECONDS });
  }
}
