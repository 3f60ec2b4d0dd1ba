import { Stack, Token } from 'aws-cdk-lib';
import {
  type CfnRule,
  type IEventBusRef,
  type IRuleRef,
  Rule,
  RuleTargetInput,
  type RuleTargetInputProperties,
} from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import { checkFilter, type EventFilter, invalid, namedFields } from './event-filter.ts';
import { SynthesisError } from './synthesis-error.ts';
import type { WorkQueue } from './work-queue.ts';

/** Which events start which pipeline. */
export interface TriggerOptions {
  /** Name of the pipeline. It may be put later. */
  readonly pipeline: string;
  /** An EventBridge pattern in its JSON form, `detail-type` and not `detailType`. An event has to match all of it. */
  readonly filter: EventFilter;
  /** Where the events are. @default the account's default bus */
  readonly bus?: IEventBusRef;
  /** The run's input: any JSON, in which `EventField.fromPath()` stands for parts of the event. @default the event's `detail` */
  readonly input?: unknown;
  /** @default the pipeline's newest */
  readonly revision?: string;
  /** @default none */
  readonly tags?: Readonly<Record<string, string>>;
}

/** A trigger, and the queue that it feeds. */
export interface TriggerProps extends TriggerOptions {
  readonly requests: WorkQueue;
}

const NAME = /^[\w-]{1,100}$/;

/** The source of the function that answers requests: what it publishes must never become a request. */
const INTAKE = 'millrace.intake';
/** https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_InputTransformer.html */
const MAX_TEMPLATE_LENGTH = 8192;

/**
 * Starts a pipeline by events: a rule that hands each event that matches a filter to the intake, with what it starts.
 * An event starts one run of a pipeline, however often it is delivered.
 */
export class Trigger extends Construct {
  /**
   * @throws SynthesisError `INVALID_FILTER` for a filter that is empty, holds empty or unknown parts, or listens to what
   * the intake answers; `INVALID_TRIGGER` for an input that cannot be written as a template
   */
  constructor(scope: Construct, id: string, props: TriggerProps) {
    super(scope, id);
    if (!NAME.test(id)) {
      const allowed = '1 to 100 letters, digits, "-" and "_"';
      throw new SynthesisError(
        'INVALID_TRIGGER',
        `The name of a trigger is ${JSON.stringify(id)}; it must be ${allowed}.`,
      );
    }
    const { bus, requests, pipeline } = props;
    const filter: EventFilter = Stack.of(this).resolve(props.filter);
    checkFilter(filter);
    const rule = new Rule(this, 'Rule', {
      description: `Starts the pipeline ${pipeline}`.slice(0, 512),
      ...(bus && { eventBus: bus }),
      eventPattern: { source: [INTAKE] },
      targets: [
        new SqsQueue(requests.queue, {
          deadLetterQueue: requests.deadLetters,
          message: new TriggerInput(id, props),
        }),
      ],
    });
    // CDK's own type of patterns has other names for the fields, and drops those that it does not know.
    (rule.node.defaultChild as CfnRule).eventPattern = withoutIntake(filter);
  }
}

/** The filter, which leaves out what the intake answers. */
function withoutIntake(filter: EventFilter): EventFilter {
  const sources = namedFields(filter).filter(({ field }) => field === 'source');
  for (const { path, value } of sources) {
    if (Array.isArray(value) && value.includes(INTAKE)) {
      throw invalid(path, `listens to ${INTAKE}, whose answers must not start runs`);
    }
  }
  return sources.length > 0 ? filter : { source: [{ 'anything-but': [INTAKE] }], ...filter };
}

/** What the intake reads (`functions/intake/take-message.ts`): what is to be started, and the event as it came. */
class TriggerInput extends RuleTargetInput {
  readonly #trigger: object;

  constructor(name: string, { pipeline, revision, tags, input }: TriggerOptions) {
    super();
    this.#trigger = { name, pipeline, revision, tags, input };
    checkTexts(this.#trigger);
  }

  bind(rule: IRuleRef): RuleTargetInputProperties {
    const { input, inputTemplate = input, inputPathsMap } = RuleTargetInput.fromObject(this.#trigger).bind(rule);
    return {
      inputTemplate: `{"trigger":${inputTemplate},"event":<aws.events.event.json>}`,
      ...(inputPathsMap && { inputPathsMap }),
    };
  }
}

/** Every `<` of a template begins the name of a variable, and nothing escapes it. */
function checkTexts(trigger: object): void {
  const text = JSON.stringify(trigger, (_key, value: unknown) => (Token.isUnresolved(value) ? '' : value));
  if (/[<>]/.test(text)) {
    throw new SynthesisError(
      'INVALID_TRIGGER',
      'A trigger cannot hold "<" or ">": EventBridge takes them for variables.',
    );
  }
  if (text.length > MAX_TEMPLATE_LENGTH / 2) {
    const allowed = `EventBridge takes about ${MAX_TEMPLATE_LENGTH / 2}`;
    throw new SynthesisError('INVALID_TRIGGER', `A trigger has ${text.length} characters in JSON; ${allowed}.`);
  }
}
