import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { EventRoutes } from '../constructs/event-routes.ts';
import { FunctionsFromDirectory } from '../constructs/functions-from-directory.ts';
import { HttpEntrance } from '../constructs/http-entrance.ts';
import { LambdaEngine } from '../constructs/lambda-engine.ts';
import { OwnFunctions, ownFunctionNames } from '../constructs/own-functions.ts';
import { PayloadBucket } from '../constructs/payload-bucket.ts';
import { Registrar, registrarName } from '../constructs/registrar.ts';
import { EVENT_STARTS_PER_MINUTE, type OwnFunction, PASS_SECONDS, TICK_SECONDS } from '../constructs/settings.ts';
import { StateMachineEngine, type StateMachineEngineOptions } from '../constructs/state-machine-engine.ts';
import { StateTable } from '../constructs/state-table.ts';
import { TeamStateMachines } from '../constructs/team-state-machines.ts';
import { Tick } from '../constructs/tick.ts';
import { Trigger, type TriggerOptions } from '../constructs/trigger.ts';
import { WorkQueue } from '../constructs/work-queue.ts';

/** What an installation is made of. */
export interface MillraceStackProps extends StackProps {
  /** Prefix of all physical names and of the executions' names; checked by `parseInstallation`. */
  readonly installation: string;
  /** A directory of functions for pipelines to use. @default none */
  readonly functionsDirectory?: string;
  /** Names of state machines to be run as engines, beside those that begin with `millrace-`. @default none */
  readonly stateMachines?: readonly string[];
  /** Runs of one pipeline that events start in a minute. @default 100 */
  readonly eventStartsPerMinute?: number;
  /** Whether table and bucket go with the stack. @default false: they are kept, and the table is protected */
  readonly ephemeral?: boolean;
  /** Source files of our own functions. @default those of this project */
  readonly ownEntries?: Readonly<Record<OwnFunction, string>> & { readonly registrar?: string };
}

/** One installation of Millrace: nothing in it runs or, but for storage, is billed while no pipeline runs. */
export class MillraceStack extends Stack {
  /** The functions of `functionsDirectory`, for grants of their own. */
  readonly functions: FunctionsFromDirectory['functions'];
  /** The installation's own bus. */
  readonly bus: EventBus;
  readonly #requests: WorkQueue;
  readonly #triggers = new Construct(this, 'Triggers');
  readonly #engines = new Construct(this, 'Engines');
  /** Called for each engine; the first makes the registrar. */
  readonly #engineParts: () => { readonly registrar: IFunction; readonly runners: readonly IFunction[] };
  readonly #installation: string;

  constructor(scope: Construct, id: string, props: MillraceStackProps) {
    super(scope, id, {
      description: `Millrace: installation ${props.installation}`,
      analyticsReporting: false,
      ...props,
    });
    const { installation } = props;
    this.#installation = installation;
    const table = new StateTable(this, 'State', { tableName: installation, ephemeral: props.ephemeral ?? false });
    const inbox = new WorkQueue(this, 'Inbox', { queueName: `${installation}-inbox` });
    const requests = new WorkQueue(this, 'Requests', { queueName: `${installation}-requests` });
    const events = new EventRoutes(this, 'Events', { installation, inbox, requests });
    this.bus = events.bus;
    this.#requests = requests;
    const engine = new LambdaEngine(this, 'LambdaEngine', { installation });
    const machines = new TeamStateMachines(this, 'StateMachines', { installation, names: props.stateMachines ?? [] });
    const payloads = new PayloadBucket(this, 'Payloads', { ephemeral: props.ephemeral ?? false });
    this.functions = this.addFunctions(installation, engine, payloads, props.functionsDirectory);
    const environment = {
      MILLRACE_INSTALLATION: installation,
      MILLRACE_TABLE: table.table.tableName,
      MILLRACE_BUS: events.bus.eventBusName,
      MILLRACE_INBOX_URL: inbox.queue.queueUrl,
      MILLRACE_LAMBDA_ENGINE_ARN: engine.stateMachine.stateMachineArn,
      MILLRACE_PAYLOAD_BUCKET: payloads.bucket.bucketName,
      MILLRACE_TICK_SECONDS: String(TICK_SECONDS),
      MILLRACE_PASS_SECONDS: String(PASS_SECONDS),
      MILLRACE_EVENT_STARTS_PER_MINUTE: String(props.eventStartsPerMinute ?? EVENT_STARTS_PER_MINUTE.default),
    };
    const { api, scheduler, intake } = new OwnFunctions(this, 'Functions', {
      installation,
      environment,
      ...(props.ownEntries && { entries: props.ownEntries }),
    });
    const grantBasics = (each: IFunction) => {
      table.grantReadWrite(each);
      inbox.grantSend(each);
      events.grantPublish(each);
    };
    for (const each of [api, scheduler, intake]) grantBasics(each);
    this.#engineParts = once(() => {
      const entry = props.ownEntries?.registrar;
      const { function: registrar } = new Registrar(this, 'Registrar', {
        installation,
        environment,
        ...(entry !== undefined && { entry }),
      });
      grantBasics(registrar);
      return { registrar, runners: [api, scheduler] };
    });
    for (const each of [api, scheduler]) {
      engine.grantRun(each);
      machines.grantRun(each);
      payloads.grantToOwnFunction(each);
    }
    // A new account has ten concurrent invocations in all; these leave some for the api and for the nodes.
    inbox.deliverTo(scheduler, { maxConcurrency: 5 });
    requests.deliverTo(intake, { maxConcurrency: 2 });
    new Tick(this, 'Tick', { installation, scheduler });
    const entrance = new HttpEntrance(this, 'Http', { installation, api });
    for (const each of this.functions.values()) {
      entrance.allowReporting(each.function);
      each.logGroup.grant(api, 'logs:FilterLogEvents');
    }

    new CfnOutput(this, 'ApiUrl', { value: entrance.url });
    new CfnOutput(this, 'TableName', { value: table.table.tableName });
    new CfnOutput(this, 'PayloadBucketName', { value: payloads.bucket.bucketName });
    new CfnOutput(this, 'BusName', { value: events.bus.eventBusName });
    new CfnOutput(this, 'InboxUrl', { value: inbox.queue.queueUrl });
    new CfnOutput(this, 'RequestsUrl', { value: requests.queue.queueUrl });
  }

  /**
   * Starts a pipeline by events, of the account's default bus unless another one is named.
   * @param name of the trigger, which its runs show; 1 to 100 letters, digits, `-` and `_`
   * @throws SynthesisError as `Trigger` does
   */
  addTrigger(name: string, options: TriggerOptions): Trigger {
    return new Trigger(this.#triggers, name, { ...options, requests: this.#requests });
  }

  /**
   * Registers a state machine as an engine, and allows the installation to run it.
   * @param name of the engine, as nodes give it
   * @throws SynthesisError `INVALID_ENGINE` for what the API would refuse, as far as it can be seen
   */
  addStateMachineEngine(name: string, options: StateMachineEngineOptions): StateMachineEngine {
    const props = { options, installation: this.#installation, ...this.#engineParts() };
    return new StateMachineEngine(this.#engines, name, props);
  }

  private addFunctions(
    installation: string,
    engine: LambdaEngine,
    payloads: PayloadBucket,
    directory?: string,
  ): FunctionsFromDirectory['functions'] {
    if (!directory) return new Map();
    const { functions } = new FunctionsFromDirectory(this, 'UserFunctions', {
      directory,
      reservedNames: [...ownFunctionNames(installation), registrarName(installation)],
      environment: { MILLRACE_PAYLOAD_BUCKET: payloads.bucket.bucketName },
    });
    for (const each of functions.values()) {
      engine.allowInvoking(each.function);
      payloads.grantToFunction(each.function);
    }
    return functions;
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
