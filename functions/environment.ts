/** What the entries of all our functions share: the environment read by a schema, and what they report with. */
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import * as z from 'zod';

const seconds = z.coerce.number().positive();

const environmentSchema = z.object({
  MILLRACE_INSTALLATION: z.string().min(1).default('millrace'),
  MILLRACE_TABLE: z.string().min(1),
  MILLRACE_BUS: z.string().min(1),
  MILLRACE_INBOX_URL: z.url(),
  MILLRACE_LAMBDA_ENGINE_ARN: z.string().startsWith('arn:'),
  MILLRACE_PAYLOAD_BUCKET: z.string().min(1),
  MILLRACE_TICK_SECONDS: seconds.default(60),
  MILLRACE_PASS_SECONDS: seconds.default(30),
  /** Runs of one pipeline that events start in a minute. */
  MILLRACE_EVENT_STARTS_PER_MINUTE: z.coerce.number().int().min(1).default(100),
  /** Whether calls keep below the quotas of an account; there are none on the development host. */
  MILLRACE_QUOTAS: z.enum(['account', 'none']).default('account'),
  /** Address of the WebSocket of live updates. @default there are none */
  MILLRACE_LIVE_URL: z
    .string()
    .regex(/^wss?:\/\//)
    .optional(),
  AWS_REGION: z.string().default(''),
});

/** The environment of one of our functions. */
export type Environment = z.output<typeof environmentSchema>;

/** What a function reports with. */
export interface Reporting<Name extends string = string> {
  readonly functionName: Name;
  readonly logger: Logger;
  /** Counts something, as a CloudWatch metric. */
  readonly count: (name: string, by?: number) => void;
}

/**
 * Reads the environment.
 * @throws Error that names every variable that is missing or wrong
 */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>>): Environment {
  const checked = environmentSchema.safeParse(variables);
  if (checked.success) return checked.data;
  const wrong = checked.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`the environment of the function is not complete: ${wrong.join('; ')}`);
}

/** Makes the logger and the counters of a function. */
export function createReporting<const Name extends string>(
  functionName: Name,
  environment: Environment,
): Reporting<Name> {
  const serviceName = `${environment.MILLRACE_INSTALLATION}-${functionName}`;
  const metrics = new Metrics({ namespace: 'Millrace', serviceName });
  return {
    functionName,
    logger: new Logger({ serviceName }),
    count(name, by = 1) {
      metrics.addMetric(name, MetricUnit.Count, by);
      metrics.publishStoredMetrics();
    },
  };
}
