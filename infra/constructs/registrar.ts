import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { NodeFunction } from './node-function.ts';
import { bundleRegistrar, type OwnEntries } from './own-bundles.ts';

/** Longest that a registration takes, in seconds; it answers before. */
const TIMEOUT_SECONDS = 90;

/** Settings of the registrar. */
export interface RegistrarProps {
  readonly installation: string;
  readonly logRetention: RetentionDays;
  /** What our own functions find in their environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly entries: OwnEntries;
}

/** The name that the registrar has in Lambda. */
export function registrarName(installation: string): string {
  return `${installation}-registrar`;
}

/** The function that CloudFormation calls for engines and pipelines: it puts them as the API would. Installations without any have none. */
export class Registrar extends Construct {
  readonly function: IFunction;

  constructor(scope: Construct, id: string, { installation, environment, entries, logRetention }: RegistrarProps) {
    super(scope, id);
    this.function = new NodeFunction(this, 'registrar', {
      functionName: registrarName(installation),
      description: 'Millrace: registers the engines and puts the pipelines of the stack',
      bundle: bundleRegistrar(entries),
      environment,
      logRetention,
      timeoutSeconds: TIMEOUT_SECONDS,
    }).function;
  }
}
