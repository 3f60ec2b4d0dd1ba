import path from 'node:path';
import type { Chaos } from '#local/chaos.ts';
import type { Disk } from '#local/disk.ts';
import { type EventBuses, openEventBuses } from '#local/event-bus.ts';
import { systemClock } from '#local/host-clock.ts';
import { createLambdaFunctions, type LambdaFunctions } from '#local/lambda-functions.ts';
import { createLogEvents } from '#local/log-events.ts';
import { type ObjectStore, openObjectStore } from '#local/object-store.ts';
import { openQueues, type QueueService } from '#local/queues.ts';
import type { RuntimeEntries } from '#local/runtime-entries.ts';
import { openSecrets } from '#local/secrets.ts';
import { openStateMachines, type StateMachines } from '#local/state-machines.ts';
import { openTables, type TableService } from '#local/tables.ts';
import type { HostedResource, HostedTemplate } from '#local/template.ts';
import type { ValidDefinitions } from '#local/valid-definitions.ts';
import { openWebhookCalls } from '#local/webhook-calls.ts';
import { readDestinations } from '#local/webhook-template.ts';
import type { WireServices } from '#local/wire-dispatch.ts';
import type { WireLog } from '#local/wire-log.ts';
import type { WriteGuard } from '#local/write-guard.ts';

/** The services of a host, with every resource of the template in its place. */
export type HostedServices = {
  readonly functions: LambdaFunctions;
  readonly queues: QueueService;
  readonly buses: EventBuses;
  readonly machines: StateMachines;
  readonly wire: WireServices;
  /** Whether no invocation, no execution and no message is ready or under way. */
  isIdle(): boolean;
  close(): Promise<void>;
};

/** What the services need. */
export type ServicesSurroundings = {
  readonly disk: Disk;
  readonly guard: WriteGuard;
  readonly wireLog: WireLog;
  readonly dataDir: string;
  readonly wireUrl: string;
  readonly assets: ReadonlyMap<string, string>;
  readonly entries: RuntimeEntries;
  readonly validDefinitions: ValidDefinitions;
  readonly tickSeconds?: number;
  readonly chaos?: Chaos;
  log(line: string): void;
};

/** How long invocations under way may go on when the host closes. */
const graceMs = 1000;

/** Opens all services and creates the template's resources in them; nothing acts by itself yet. */
export async function openServices(template: HostedTemplate, around: ServicesSurroundings): Promise<HostedServices> {
  const { disk, guard, wireLog, chaos } = around;
  const secrets = openSecrets(around.dataDir, template.resources);
  const destinations = readDestinations(template.resources, secrets, around.log);
  const failed = (error: unknown) =>
    around.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const logEvents = createLogEvents();
  const functions = createLambdaFunctions({ ...around, logEvents, logFolder: path.join(around.dataDir, 'logs') });
  const tables = await openTables({ folder: path.join(around.dataDir, 'dynamodb'), wireLog, guard });
  const objects = await openObjectStore({
    disk,
    folder: path.join(around.dataDir, 's3'),
    wireLog,
    guard,
    ...(chaos === undefined ? {} : { chaos }),
  });
  const queues = openQueues({ disk, wireLog });
  const buses = openEventBuses({
    disk,
    wireLog,
    webhooks: openWebhookCalls(destinations, systemClock),
    sendToQueue: (queueArn, body) => queues.send(queueArn, body),
    invokeFunction: (functionArn, payload) => invokeOrThrow(functions, functionArn, payload),
    ...(chaos === undefined ? {} : { chaos }),
  });
  const machines = openStateMachines({
    disk,
    wireLog,
    functions,
    validDefinitions: around.validDefinitions,
    publish: (event) => buses.publish('default', event),
    failed,
    log: around.log,
  });
  const services = { functions, tables, objects, queues, buses, machines };
  const queueArns = template.resources.filter(({ type }) => type === 'AWS::SQS::Queue').map(({ arn }) => arn);
  const close = () => closeServices(services);
  try {
    for (const resource of template.resources) await create(resource, services);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ...services,
    wire: {
      AmazonSQS: queues,
      AWSEvents: buses,
      AWSStepFunctions: machines,
      DynamoDB_20120810: tables,
      Logs_20140328: logEvents,
      objects,
    },
    isIdle: () =>
      functions.active() === 0 &&
      machines.executions.running === 0 &&
      queueArns.every((arn) => isQuiet(queues.counters(arn))),
    close,
  };
}

function isQuiet({ depth, inFlight }: { depth: number; inFlight: number }): boolean {
  return depth === 0 && inFlight === 0;
}

type Services = Pick<HostedServices, 'functions' | 'queues' | 'buses' | 'machines'> & {
  readonly tables: TableService;
  readonly objects: ObjectStore;
};

/** Mappings, schedules and the HTTP API come later: they act on what is created here. */
async function create(resource: HostedResource, services: Services): Promise<void> {
  switch (resource.type) {
    case 'AWS::DynamoDB::Table':
    case 'AWS::DynamoDB::GlobalTable':
      return services.tables.create(resource.name, resource.properties);
    case 'AWS::S3::Bucket':
      return services.objects.create(resource.name);
    case 'AWS::SQS::Queue':
      return services.queues.create({ arn: resource.arn, url: resource.ref }, resource.properties);
    case 'AWS::Events::EventBus':
      return services.buses.createBus(resource.name);
    case 'AWS::Events::Rule':
      return services.buses.createRule({ arn: resource.arn, name: resource.name }, resource.properties);
    case 'AWS::Lambda::Function':
      return services.functions.create(resource);
    case 'AWS::StepFunctions::StateMachine':
      return services.machines.create(resource);
    default:
      return;
  }
}

async function invokeOrThrow(functions: LambdaFunctions, functionArn: string, payload: string): Promise<void> {
  const name = functions.find(functionArn);
  if (name === undefined) throw new Error(`There is no function ${functionArn}`);
  const outcome = await functions.invoke(name, { event: payload });
  if (!outcome.ok) throw new Error(`${outcome.error.errorType}: ${outcome.error.errorMessage}`);
}

/** Executions are let go first, so that what ends by closing is not taken for their end. */
async function closeServices({ functions, tables, queues, buses, machines }: Services): Promise<void> {
  await machines.close();
  await buses.close();
  const queuesClosed = queues.close();
  await Promise.race([queuesClosed, new Promise((resolve) => setTimeout(resolve, graceMs).unref())]);
  await functions.close();
  await queuesClosed;
  await tables.close();
}
