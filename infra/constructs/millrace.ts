import { Stack } from 'aws-cdk-lib';
import type { Alarm, Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import { type Grant, type IGrantable, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct, DependencyGroup } from 'constructs';
import { type AlarmOptions, Alarms } from './alarms.ts';
import { ADMIN_CALLS, READ_CALLS, RUN_CALLS, START_CALLS } from './api-permissions.ts';
import { checkEngineName } from './engine-settings.ts';
import { HttpEngine, type HttpEngineOptions } from './http-engine.ts';
import { HTTP_PARAMS_SCHEMA } from './http-engine-definition.ts';
import { type MillraceMetrics, metricsOf } from './millrace-metrics.ts';
import { grantBasics, type MillraceParts, makeParts } from './millrace-parts.ts';
import { type MillraceProps, type MillraceSettings, toSettings } from './millrace-props.ts';
import { grantReadLog, isOfStack } from './named-function.ts';
import type { NodeFunction } from './node-function.ts';
import { Overview } from './overview.ts';
import { ownFunctionNames } from './own-functions.ts';
import { Pipeline, type PipelineOptions, type PipelineSource, readPipeline } from './pipeline.ts';
import { Registrar, registrarName } from './registrar.ts';
import { StateMachineEngine, type StateMachineEngineOptions } from './state-machine-engine.ts';
import { SynthesisError } from './synthesis-error.ts';
import { Trigger, type TriggerOptions } from './trigger.ts';
import { UserFunctions } from './user-functions.ts';
import { Webhook } from './webhook.ts';
import type { WebhookOptions } from './webhook-settings.ts';

/**
 * One installation of Millrace: table, bus, queues, functions, HTTP API and tick. Nothing in it runs or, but for storage
 * and alarms, is billed while no pipeline runs.
 *
 * @example
 * const millrace = new Millrace(stack, 'Millrace', { functionsDirectory: 'functions' });
 * millrace.addPipeline('pipelines/etl.yaml');
 */
export class Millrace extends Construct {
  /** Its name, the prefix of all physical names. */
  readonly installation: string;
  /** Address of the HTTP API, without a trailing slash. */
  readonly url: string;
  /** Address of the WebSocket of live updates. */
  readonly liveUrl: string;
  /** Every aggregate, its history and its results. */
  readonly table: Table;
  /** Where large payloads are. */
  readonly payloads: Bucket;
  /** Its own bus: what is asked of it, and what it tells. */
  readonly bus: EventBus;
  /** What the scheduler is rung by. */
  readonly inbox: Queue;
  /** What other systems ask for. */
  readonly requests: Queue;
  /** What CloudWatch knows of it, for alarms and dashboards of your own. */
  readonly metrics: MillraceMetrics;
  /** Its alarms by name: `tick-missing`, `oldest-due`, `stuck`, `dead-letters-inbox`, `errors-scheduler`, …; empty without them. */
  readonly alarms: ReadonlyMap<string, Alarm>;
  /** Undefined where none was wanted. */
  readonly dashboard: Dashboard | undefined;
  readonly #parts: MillraceParts;
  readonly #settings: MillraceSettings;
  readonly #userFunctions: UserFunctions;
  readonly #triggers = new Construct(this, 'Triggers');
  readonly #webhooks = new Construct(this, 'Webhooks');
  readonly #engines = new Construct(this, 'Engines');
  readonly #pipelines = new Construct(this, 'Pipelines');
  /** What nodes run on. */
  readonly #runners = new DependencyGroup();
  readonly #httpEngines = new Construct(this, 'HttpEngines');
  #registrar: IFunction | undefined;

  /** @throws SynthesisError for a prop that is not right, and for what is wrong with the functions of `functionsDirectory` */
  constructor(scope: Construct, id: string, props: MillraceProps = {}) {
    super(scope, id);
    this.#settings = toSettings(props);
    const { installation, logRetention } = this.#settings;
    this.installation = installation;
    this.refuseTwin();
    this.#parts = makeParts(this, this.#settings);
    const { entrance, live, state, payloads, events, inbox, requests } = this.#parts;
    this.url = entrance.url;
    this.liveUrl = live.url;
    this.table = state.table;
    this.payloads = payloads.bucket;
    this.bus = events.bus;
    this.inbox = inbox.queue;
    this.requests = requests.queue;
    this.#userFunctions = new UserFunctions(this, 'UserFunctions', {
      reservedNames: [...ownFunctionNames(installation), registrarName(installation)],
      logRetention,
      environment: { MILLRACE_PAYLOAD_BUCKET: payloads.bucket.bucketName },
    });
    if (props.functionsDirectory !== undefined) this.addFunctionsFromDirectory(props.functionsDirectory);
    this.metrics = metricsOf(this.#settings, this.#parts);
    this.alarms = this.addAlarms(props.alarms ?? {});
    this.dashboard = props.dashboard === false ? undefined : this.addDashboard();
    if (props.permissionsBoundary) PermissionsBoundary.of(this).apply(props.permissionsBoundary);
  }

  /** The functions of all directories by name, for grants of their own. */
  get functions(): ReadonlyMap<string, NodeFunction> {
    return this.#userFunctions.functions;
  }

  /**
   * Deploys the functions of a directory, for pipelines to use: each `<name>.ts` or `<name>/index.ts` there that exports
   * `handler` is the Lambda function `<name>`.
   * @returns those functions by name
   * @throws SynthesisError as `UserFunctions.addDirectory` does
   */
  addFunctionsFromDirectory(directory: string): ReadonlyMap<string, NodeFunction> {
    const { engine, payloads, entrance, own } = this.#parts;
    const added = this.#userFunctions.addDirectory(directory);
    for (const { function: each, logGroup } of added.values()) {
      engine.allowInvoking(each);
      payloads.grantToFunction(each);
      entrance.allowReporting(each);
      logGroup.grant(own.api, 'logs:FilterLogEvents');
      this.#runners.add(each);
    }
    return added;
  }

  /**
   * Lets the engine `lambda` invoke a function that was made elsewhere; nodes name it in `params.function`. A function of
   * the same stack can also return large outputs and report its progress then. Its log is read from `/aws/lambda/NAME`.
   */
  addLambdaEngine(target: IFunction): void {
    const { engine, payloads, entrance, own } = this.#parts;
    engine.allowInvoking(target);
    grantReadLog(own.api, target);
    if (!isOfStack(target, Stack.of(this))) return;
    this.#runners.add(target);
    payloads.grantToFunction(target);
    entrance.allowReporting(target);
    target.addEnvironment('MILLRACE_PAYLOAD_BUCKET', payloads.bucket.bucketName);
  }

  /**
   * Registers a state machine as an engine, and allows the installation to run it.
   * @param name of the engine, as nodes give it
   * @throws SynthesisError `INVALID_ENGINE` for what the API would refuse, as far as it can be seen
   */
  addStateMachineEngine(name: string, options: StateMachineEngineOptions): StateMachineEngine {
    const { api, scheduler } = this.#parts.own;
    const engine = new StateMachineEngine(this.#engines, name, {
      options,
      installation: this.installation,
      registrar: this.registrar(),
      runners: [api, scheduler],
    });
    this.#runners.add(engine);
    return engine;
  }

  /**
   * Registers an engine whose nodes each make one HTTP request, with the credentials of an EventBridge connection. Their params
   * are `{path, method?, query?, headers?, body?}`, their output is `{status, headers, body}`; a request ends after 60 s.
   * @param name of the engine, as nodes give it
   * @throws SynthesisError `INVALID_ENGINE` for a base address that is none, and for what the API would refuse
   */
  addHttpEngine(name: string, { baseUrl, connection, ...settings }: HttpEngineOptions): StateMachineEngine {
    checkEngineName(name);
    const { stateMachine } = new HttpEngine(this.#httpEngines, name, { baseUrl, connection });
    return this.addStateMachineEngine(name, { ...settings, stateMachine, paramsSchema: HTTP_PARAMS_SCHEMA });
  }

  /**
   * Puts a pipeline whenever the stack is deployed with a change of it: checked when the app runs, put after the functions and engines
   * that the installation was given.
   * @param source what `definePipeline` gives, or the path of a `.yaml`, `.yml` or `.json` file
   * @throws SynthesisError `INVALID_DEFINITION` with everything that is wrong with it
   */
  addPipeline(source: PipelineSource, options: PipelineOptions = {}): Pipeline {
    const definition = readPipeline(source);
    const props = { ...options, definition, registrar: this.registrar(), after: this.#runners };
    return new Pipeline(this.#pipelines, definition.name, props);
  }

  /**
   * Starts a pipeline by events, of the account's default bus unless another one is named.
   * @param name of the trigger, which its runs show; 1 to 100 letters, digits, `-` and `_`
   * @throws SynthesisError as `Trigger` does
   */
  addTrigger(name: string, options: TriggerOptions): Trigger {
    return new Trigger(this.#triggers, name, { ...options, requests: this.#parts.requests });
  }

  /**
   * Posts events to an address: each change of a run's state, unless told otherwise. What nobody takes within a day lies in a
   * dead-letter queue.
   * @param name of the webhook, a part of that queue's; 1 to 40 letters, digits, `-` and `_`
   * @throws SynthesisError `INVALID_WEBHOOK`, naming the option and what would be right
   */
  addWebhook(name: string, options: WebhookOptions): Webhook {
    const { installation, bus } = this;
    return new Webhook(this.#webhooks, name, { ...options, installation, bus });
  }

  /** Allows starting runs of every pipeline: over the API, and by the event `RunRequested`. */
  grantStart(grantee: IGrantable): Grant {
    return this.grant(grantee, START_CALLS).combine(this.#parts.events.grantRequest(grantee, ['RunRequested']));
  }

  /** Allows looking at everything over the API, and checking definitions. */
  grantRead(grantee: IGrantable): Grant {
    return this.grant(grantee, READ_CALLS);
  }

  /**
   * Allows what {@link grantRead} and {@link grantStart} do, and everything else that is done with runs: stop, pause, resume,
   * run again, mark, answer, backfill. Deleting them is left out.
   */
  grantRun(grantee: IGrantable): Grant {
    const requests = this.#parts.events.grantRequest(grantee, ['RunRequested', 'StopRequested']);
    return this.grant(grantee, RUN_CALLS).combine(requests);
  }

  /** Allows every call of the API: pipelines, engines, pools and runs may be put and deleted, too. */
  grantAdmin(grantee: IGrantable): Grant {
    return this.grant(grantee, ADMIN_CALLS);
  }

  private grant(grantee: IGrantable, calls: readonly string[]): Grant {
    const reason = 'Pipelines, runs and nodes come and go; the calls are those of the permission that was granted.';
    return this.#parts.entrance.grantCalls(grantee, calls, reason);
  }

  private addAlarms(options: AlarmOptions | false): ReadonlyMap<string, Alarm> {
    if (options === false) return new Map();
    const { installation, tickRate } = this.#settings;
    return new Alarms(this, 'Alarms', { ...options, installation, tickRate, metrics: this.metrics }).byName;
  }

  private addDashboard(): Dashboard {
    const { installation, metrics } = this;
    return new Overview(this, 'Overview', { installation, metrics, alarms: [...this.alarms.values()] }).dashboard;
  }

  /** Made for the first that needs it: most installations need none. */
  private registrar(): IFunction {
    if (this.#registrar) return this.#registrar;
    const { installation, logRetention, entries } = this.#settings;
    const { environment } = this.#parts;
    const { function: made } = new Registrar(this, 'Registrar', {
      installation,
      logRetention,
      environment,
      entries,
    });
    grantBasics(this.#parts, made);
    this.#registrar = made;
    return made;
  }

  private refuseTwin(): void {
    const others = Stack.of(this).node.findAll();
    if (!others.some((each) => each !== this && each instanceof Millrace && each.installation === this.installation))
      return;
    throw new SynthesisError(
      'INVALID_INSTALLATION',
      `The stack has two installations ${JSON.stringify(this.installation)}; give one of them another name.`,
    );
  }
}
