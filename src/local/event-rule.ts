import { z } from 'zod';
import { compileEventPattern, type EventMatcher, EventPatternError } from '#local/event-pattern.ts';
import { compileTargetInput, type InputMaker, InputTransformerError } from '#local/input-transformer.ts';

/** A rule that the host cannot have. */
export class EventRuleError extends Error {
  override readonly name = 'EventRuleError';
  /** `INVALID_PATTERN`, `UNSUPPORTED_TARGET` (its service or input), `UNSUPPORTED_RULE` (another property). */
  readonly code: 'INVALID_PATTERN' | 'UNSUPPORTED_TARGET' | 'UNSUPPORTED_RULE';

  constructor(code: EventRuleError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Where a rule sends what it matches. */
export type RuleTarget = {
  readonly id: string;
  readonly arn: string;
  /** The rule's name. */
  readonly rule: string;
};

/** A rule ready to be applied. */
export type EventRule = {
  readonly name: string;
  readonly bus: string;
  /** One that is disabled hands nothing on. */
  readonly isEnabled: boolean;
  readonly matches: EventMatcher;
  readonly targets: readonly (RuleTarget & {
    readonly kind: 'queue' | 'function' | 'destination';
    readonly inputOf: InputMaker;
    readonly deadLetterArn?: string;
    /** Of a destination: for how long (ms) and how often it is tried again. */
    readonly retry?: { readonly maxAgeMs: number; readonly retries: number };
  })[];
};

/** Strict, so that a property which would change what happens is refused and not ignored. */
const targetSchema = z.strictObject({
  Id: z.string(),
  Arn: z.string(),
  Input: z.string().optional(),
  InputPath: z.string().optional(),
  InputTransformer: z
    .strictObject({ InputPathsMap: z.record(z.string(), z.string()).optional(), InputTemplate: z.string().min(1) })
    .optional(),
  RoleArn: z.string().optional(),
  DeadLetterConfig: z.strictObject({ Arn: z.string() }).optional(),
  RetryPolicy: z
    .object({
      MaximumEventAgeInSeconds: z.coerce.number().int().default(86_400),
      MaximumRetryAttempts: z.coerce.number().int().default(185),
    })
    .prefault({}),
});

const ruleSchema = z.strictObject({
  Name: z.string().optional(),
  Description: z.string().optional(),
  RoleArn: z.string().optional(),
  Tags: z.unknown().optional(),
  EventBusName: z.string().default('default'),
  EventPattern: z
    .unknown()
    .refine((pattern) => pattern !== undefined, 'schedules are hosted as AWS::Scheduler::Schedule'),
  State: z.enum(['ENABLED', 'DISABLED']).default('ENABLED'),
  Targets: z.array(targetSchema).max(5).default([]),
});

/**
 * Reads the resolved properties of an `AWS::Events::Rule`.
 * @throws {EventRuleError} naming the rule and the part
 */
export function eventRuleOf(address: { readonly arn: string; readonly name: string }, properties: unknown): EventRule {
  const { arn, name } = address;
  const parsed = ruleSchema.safeParse(properties);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'properties'}: ${issue.message}`);
    throw new EventRuleError('UNSUPPORTED_RULE', `Rule ${name}: ${problems.join('; ')}`);
  }
  const { EventBusName, EventPattern, State, Targets } = parsed.data;
  try {
    return {
      name,
      bus: EventBusName.slice(EventBusName.lastIndexOf('/') + 1),
      isEnabled: State === 'ENABLED',
      matches: compileEventPattern(EventPattern),
      targets: Targets.map((target) => targetOf(target, { ruleArn: arn, ruleName: name })),
    };
  } catch (error) {
    if (!(error instanceof EventPatternError || error instanceof InputTransformerError)) throw error;
    throw new EventRuleError(error.code, `Rule ${name}: ${error.message}`, { cause: error });
  }
}

function targetOf(
  target: z.infer<typeof targetSchema>,
  identity: { readonly ruleArn: string; readonly ruleName: string },
): EventRule['targets'][number] {
  const kind = kindOf(target.Arn);
  const { MaximumEventAgeInSeconds, MaximumRetryAttempts } = target.RetryPolicy;
  return {
    id: target.Id,
    arn: target.Arn,
    rule: identity.ruleName,
    kind,
    inputOf: compileTargetInput(target, identity),
    ...(target.DeadLetterConfig === undefined ? {} : { deadLetterArn: target.DeadLetterConfig.Arn }),
    ...(kind === 'destination' && {
      retry: { maxAgeMs: MaximumEventAgeInSeconds * 1000, retries: MaximumRetryAttempts },
    }),
  };
}

function kindOf(arn: string): EventRule['targets'][number]['kind'] {
  const [, , service, , , resource = ''] = arn.split(':');
  if (service === 'sqs') return 'queue';
  if (service === 'lambda') return 'function';
  if (service === 'events' && resource.startsWith('api-destination/')) return 'destination';
  throw new InputTransformerError(
    `the target ${arn} is neither a queue, a function nor an API destination; others are not hosted`,
  );
}
