/**
 * What the entries of those functions share that run passes: the ports over AWS, made from the environment. It is apart
 * from that, since a function that runs none does not load the code of passes.
 */
import {
  type AwsPorts,
  allowanceOf,
  type CallingFunction,
  createAwsClients,
  createAwsPorts,
} from '#adapters/aws/index.ts';
import { createWorkerEvaluator } from '#adapters/jsonata/worker-evaluator.ts';
import { DEFAULT_STEP_OPTIONS } from '#domain/draft.ts';
import { withChildRuns } from '#scheduler/child-runs.ts';
import type { PassDeps, PassLine } from '#scheduler/deps.ts';
import type { Environment, Reporting } from './environment.ts';

/** Makes the ports over AWS. A function that makes no call that is counted needs no allowance. */
export function createPorts(
  environment: Environment,
  { functionName }: Reporting<CallingFunction | 'registrar'>,
): AwsPorts {
  return createAwsPorts({
    table: environment.MILLRACE_TABLE,
    bus: environment.MILLRACE_BUS,
    inboxUrl: environment.MILLRACE_INBOX_URL,
    payloadBucket: environment.MILLRACE_PAYLOAD_BUCKET,
    clients: createAwsClients(),
    ...(environment.MILLRACE_QUOTAS === 'account' &&
      functionName !== 'registrar' && { allowance: allowanceOf(functionName, environment.AWS_REGION) }),
  });
}

/** Makes all that passes and commands work with, over AWS. */
export function createPassDeps(
  environment: Environment,
  reporting: Reporting<CallingFunction | 'registrar'>,
  ports = createPorts(environment, reporting),
): PassDeps {
  return withChildRuns({
    ...ports,
    evaluator: createWorkerEvaluator(),
    engines: new Map([['lambda', { stateMachineArn: environment.MILLRACE_LAMBDA_ENGINE_ARN }]]),
    installation: environment.MILLRACE_INSTALLATION,
    options: {
      ...DEFAULT_STEP_OPTIONS,
      tickMs: environment.MILLRACE_TICK_SECONDS * 1000,
      passMs: environment.MILLRACE_PASS_SECONDS * 1000,
    },
    log: (line: PassLine) => reporting.logger.info('pass', { ...line }),
  });
}
