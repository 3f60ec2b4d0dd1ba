import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type Bundle, bundleFunctions } from './bundle.ts';
import { PAYLOAD_STORE } from './function-library.ts';
import { NodeFunction } from './node-function.ts';
import { PROJECT, sourceFile } from './project.ts';

/** Longest that a registration takes, in seconds; it answers before. */
const TIMEOUT_SECONDS = 90;

/** Settings of the registrar. */
export interface RegistrarProps {
  readonly installation: string;
  readonly logRetention: RetentionDays;
  /** What our own functions find in their environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Source file that exports `handler`. @default `functions/registrar/index.ts` of this project */
  readonly entry?: string;
}

/** The name that the registrar has in Lambda. */
export function registrarName(installation: string): string {
  return `${installation}-registrar`;
}

/** The function that CloudFormation calls for engines and pipelines: it puts them as the API would. Installations without any have none. */
export class Registrar extends Construct {
  readonly function: IFunction;

  constructor(scope: Construct, id: string, { installation, environment, entry, logRetention }: RegistrarProps) {
    super(scope, id);
    const file = entry ?? sourceFile('functions/registrar/index');
    const options = { root: PROJECT, minify: true, companions: [PAYLOAD_STORE] };
    const bundle = bundleFunctions([{ name: 'registrar', file }], options).get('registrar') as Bundle;
    this.function = new NodeFunction(this, 'registrar', {
      functionName: registrarName(installation),
      description: 'Millrace: registers the engines and puts the pipelines of the stack',
      bundle,
      environment,
      logRetention,
      timeoutSeconds: TIMEOUT_SECONDS,
    }).function;
  }
}
