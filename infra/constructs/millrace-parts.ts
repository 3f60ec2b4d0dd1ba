import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { EventRoutes } from './event-routes.ts';
import { HttpEntrance } from './http-entrance.ts';
import { LambdaEngine } from './lambda-engine.ts';
import { LiveUpdates } from './live-updates.ts';
import type { MillraceSettings } from './millrace-props.ts';
import { bundleOwnFunctions } from './own-bundles.ts';
import { OwnFunctions } from './own-functions.ts';
import { PayloadBucket } from './payload-bucket.ts';
import { PASS_SECONDS } from './settings.ts';
import { StateTable } from './state-table.ts';
import { TeamStateMachines } from './team-state-machines.ts';
import { Tick } from './tick.ts';
import { WorkQueue } from './work-queue.ts';

/** What every installation has. */
export interface MillraceParts {
  readonly state: StateTable;
  readonly inbox: WorkQueue;
  readonly requests: WorkQueue;
  readonly events: EventRoutes;
  readonly engine: LambdaEngine;
  readonly payloads: PayloadBucket;
  readonly own: OwnFunctions;
  readonly tick: Tick;
  readonly entrance: HttpEntrance;
  readonly live: LiveUpdates;
  /** What each of our own functions finds in its environment. */
  readonly environment: Readonly<Record<string, string>>;
}

type Stores = Pick<MillraceParts, 'state' | 'inbox' | 'requests' | 'events' | 'engine' | 'payloads'>;

/** Makes the parts in a scope, and the edges between them. */
export function makeParts(scope: Construct, settings: MillraceSettings): MillraceParts {
  const { installation, logRetention, ephemeral } = settings;
  const state = new StateTable(scope, 'State', { tableName: installation, ephemeral });
  const inbox = new WorkQueue(scope, 'Inbox', { queueName: `${installation}-inbox` });
  const requests = new WorkQueue(scope, 'Requests', { queueName: `${installation}-requests` });
  const events = new EventRoutes(scope, 'Events', { installation, inbox, requests });
  const engine = new LambdaEngine(scope, 'LambdaEngine', { installation });
  const machines = new TeamStateMachines(scope, 'StateMachines', { installation, names: settings.stateMachines });
  const payloads = new PayloadBucket(scope, 'Payloads', { ephemeral });
  const stores: Stores = { state, inbox, requests, events, engine, payloads };
  const environment = environmentOf(settings, stores);
  const bundles = bundleOwnFunctions(settings.entries);
  const own = new OwnFunctions(scope, 'Functions', { installation, environment, bundles, logRetention });
  const { api, scheduler, intake } = own;
  for (const each of [api, scheduler, intake]) grantBasics(stores, each);
  for (const each of [api, scheduler]) {
    engine.grantRun(each);
    machines.grantRun(each);
    payloads.grantToOwnFunction(each);
  }
  // A new account has ten concurrent invocations in all; these leave some for the api and for the nodes.
  inbox.deliverTo(scheduler, { maxConcurrency: 5 });
  requests.deliverTo(intake, { maxConcurrency: 2 });
  const tick = new Tick(scope, 'Tick', { installation, scheduler, rate: settings.tickRate });
  const entrance = new HttpEntrance(scope, 'Http', { installation, api, logRetention });
  const common = { installation, logRetention, environment, state, inbox, bus: events.bus, api };
  const live = new LiveUpdates(scope, 'Live', { ...common, bundle: bundles.notifier });
  return { ...stores, own, tick, entrance, live, environment };
}

/** What every function of ours may do: read and write the table, ring, publish. */
export function grantBasics(
  { state, inbox, events }: Pick<MillraceParts, 'state' | 'inbox' | 'events'>,
  grantee: IFunction,
): void {
  state.grantReadWrite(grantee);
  inbox.grantSend(grantee);
  events.grantPublish(grantee);
}

function environmentOf(
  { installation, tickRate, eventStartsPerMinute }: MillraceSettings,
  { state, events, inbox, engine, payloads }: Stores,
): Readonly<Record<string, string>> {
  return {
    MILLRACE_INSTALLATION: installation,
    MILLRACE_TABLE: state.table.tableName,
    MILLRACE_BUS: events.bus.eventBusName,
    MILLRACE_INBOX_URL: inbox.queue.queueUrl,
    MILLRACE_LAMBDA_ENGINE_ARN: engine.stateMachine.stateMachineArn,
    MILLRACE_PAYLOAD_BUCKET: payloads.bucket.bucketName,
    MILLRACE_TICK_SECONDS: String(tickRate.toSeconds()),
    MILLRACE_PASS_SECONDS: String(PASS_SECONDS),
    MILLRACE_EVENT_STARTS_PER_MINUTE: String(eventStartsPerMinute),
  };
}
