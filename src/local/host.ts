import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { readAssembly } from '#local/assets.ts';
import { type ChaosCounters, createChaos } from '#local/chaos.ts';
import { type ChaosSpec, parseChaos } from '#local/chaos-spec.ts';
import { makeCustomResources } from '#local/custom-resources.ts';
import { openDisk } from '#local/disk.ts';
import type { DiskError } from '#local/disk-error.ts';
import { whileDiskIsFull } from '#local/full-disk.ts';
import { keepHeapsSmall } from '#local/heap-growth.ts';
import { systemClock } from '#local/host-clock.ts';
import { HostError } from '#local/host-error.ts';
import { type HostedServices, openServices } from '#local/hosted-services.ts';
import { answerHttp, type HttpApi, readHttpApi } from '#local/http-api.ts';
import { type LoopbackAnswer, type LoopbackRequest, openLoopbackServer, refusal } from '#local/loopback-server.ts';
import { startQueueMapping } from '#local/queue-mapping.ts';
import { buildRuntimeEntries } from '#local/runtime-entries.ts';
import { startSchedule } from '#local/schedules.ts';
import { type HostedResource, type HostedTemplate, resolveTemplate } from '#local/template.ts';
import { openValidDefinitions } from '#local/valid-definitions.ts';
import { openWebsocketServer, type WebsocketServer } from '#local/websocket-server.ts';
import { readWebsocketApi, splitWebsockets } from '#local/websocket-template.ts';
import { createWireDispatch } from '#local/wire-dispatch.ts';
import { createWireLog, type WireLog } from '#local/wire-log.ts';
import { createWriteGuard, type WriteGuard } from '#local/write-guard.ts';

export { synthesizeApp } from '#local/synthesis.ts';

/** What to host, and how. */
export type HostOptions = {
  /** A cloud assembly: the output folder of a CDK app. */
  readonly cdkOut: string;
  /** Where everything is kept that AWS would keep; made if it is not there. */
  readonly dataDir: string;
  /** The port of the HTTP API; 0 takes a free one. */
  readonly port: number;
  /** Overrides the rate of the tick. @default the template's */
  readonly tickSeconds?: number;
  /** A `--chaos` text. @default none */
  readonly chaos?: string;
  /** Makes the same choices of chaos again. @default random */
  readonly seed?: number;
  /** Told of what should not happen on the host. @default nobody */
  readonly log?: (line: string) => void;
  /** Bytes that may still be written to the disk of `dataDir`. @default asks the file system */
  readonly freeBytes?: () => number;
  /**
   * Told that a write to `dataDir` failed, after which nothing that the host answers is sure to be kept.
   * @default logs it and ends the process: what was confirmed is there at the next start
   */
  readonly writeFailed?: (error: DiskError) => void;
};

/** A running development host. */
export type Host = {
  /** Where the HTTP API answers. */
  readonly url: string;
  /** Where the WebSocket API answers; undefined where the template has none. */
  readonly wsUrl: string | undefined;
  /** Where the AWS wire protocols are spoken. */
  readonly wireUrl: string;
  /** What has crossed the wire since the start. */
  readonly wireLog: WireLog;
  /** What chaos has done; undefined without `chaos`. */
  readonly chaos: ChaosCounters | undefined;
  /** The outputs of the template. */
  readonly outputs: ReadonlyMap<string, string>;
  /** Whether nothing runs and nothing waits, delayed messages and the next tick apart. */
  isIdle(): boolean;
  /** Ends workers, processes and listeners. What is unfinished stays on disk and goes on at the next start. */
  close(): Promise<void>;
};

/** Bodies that an HTTP API takes, and headers. */
const apiLimits = { maxBodyBytes: 10 * 1024 * 1024, maxHeaderBytes: 10_240 };
/** Bodies of AWS requests: BatchWriteItem takes 16 MB, and JSON makes more of it. */
const wireLimits = { maxBodyBytes: 64 * 1024 * 1024, maxHeaderBytes: 65_536 };

/**
 * Hosts a synthesized template on this machine. When it resolves, the host takes requests, and what an earlier host left
 * unfinished in `dataDir` is going on.
 * @throws {HostError} `PORT_IN_USE`, `INVALID_CHAOS`, `UNSUPPORTED_RESOURCE`, `UNSUPPORTED_INTRINSIC`, `TEMPLATE_INVALID`,
 * `ENGINE_NOT_REGISTERED`, `INVALID_SECRETS`, `SECRET_NOT_GIVEN`
 * @throws {DiskError} `DATA_IN_USE`, `DATA_VERSION`, `DATA_DAMAGED`, `DATA_NOT_WRITABLE`, `DISK_FULL`
 */
export async function startHost(options: HostOptions): Promise<Host> {
  keepHeapsSmall();
  const closers: (() => Promise<void>)[] = [];
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    return await compose(options, closers, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function compose(
  options: HostOptions,
  closers: (() => Promise<void>)[],
  closeAll: () => Promise<void>,
): Promise<Host> {
  const spec = options.chaos === undefined ? undefined : parseChaos(options.chaos);
  const assembly = readAssembly(options.cdkOut);
  const guard = guardOf(options);
  const disk = await openDisk(options.dataDir, guard);
  closers.push(() => disk.close());
  const wire = await openEntrance(0, wireLimits, closers);
  const api = await openEntrance(options.port, apiLimits, closers);
  const template = resolveTemplate(assembly, { wireUrl: wire.url, apiUrl: api.url });
  const chaos = spec && createChaos(withFunctionNames(spec, template), options.seed ?? Date.now());
  const wireLog = createWireLog();
  const services = await openServices(template, {
    disk,
    guard,
    wireLog,
    dataDir: path.resolve(options.dataDir),
    wireUrl: wire.url,
    assets: assembly.assets,
    validDefinitions: openValidDefinitions(options.cdkOut),
    entries: await buildRuntimeEntries(path.join(options.dataDir, 'runtime')),
    log: options.log ?? (() => {}),
    ...(options.tickSeconds === undefined ? {} : { tickSeconds: options.tickSeconds }),
    ...(chaos === undefined ? {} : { chaos }),
  });
  closers.push(() => services.close());
  closers.push(async () => guard.stopWaiting());
  wire.handle = createWireDispatch(services.wire, chaos);
  const { others, websockets } = splitWebsockets(template.resources);
  const httpApi = readHttpApi(others, services.functions);
  const wsApi = readWebsocketApi(websockets, services.functions);
  const around = {
    functions: services.functions,
    wireLog,
    clock: systemClock,
    domainName: new URL(api.url).host,
    log: options.log ?? (() => {}),
  };
  const sockets = wsApi && openWebsocketServer(wsApi, around);
  await setGoing(template.resources, services, closers, options.tickSeconds);
  await makeCustomResources(template.resources, {
    disk,
    functions: services.functions,
    stackName: template.stackName,
    passedOver: services.machines.passedOver,
  });
  api.handle = whileDiskIsFull(apiHandler(httpApi, sockets, around), guard);
  if (sockets !== undefined) {
    closers.push(async () => sockets.close());
    api.upgrade = sockets.upgrade;
  }
  services.functions.warm();
  return {
    url: api.url,
    wsUrl: wsApi && `${api.url.replace(/^http/, 'ws')}/${wsApi.stage}`,
    wireUrl: wire.url,
    wireLog,
    chaos: chaos?.counters,
    outputs: template.outputs,
    isIdle: services.isIdle,
    close: closeAll,
  };
}

/** @throws {DiskError} `DISK_FULL` */
function guardOf({ dataDir, log = () => {}, freeBytes, writeFailed }: HostOptions): WriteGuard {
  const endAtOnce = (error: DiskError) => {
    log(`${error.code}: ${error.message}`);
    process.exit(1);
  };
  const failed = writeFailed ?? endAtOnce;
  return createWriteGuard({ folder: dataDir, log, failed, ...(freeBytes && { freeBytes }) });
}

type Entrance = {
  readonly url: string;
  handle(request: LoopbackRequest): Promise<LoopbackAnswer>;
  upgrade: WebsocketServer['upgrade'];
};

/** Listens at once, because addresses are part of the template, and answers 503 until `handle` is set. */
async function openEntrance(
  port: number,
  limits: typeof apiLimits,
  closers: (() => Promise<void>)[],
): Promise<Entrance> {
  const entrance = {
    url: '',
    handle: async (_: LoopbackRequest) => refusal(503, 'Service Unavailable'),
    upgrade: (_request: IncomingMessage, socket: Duplex) => void socket.destroy(),
  };
  const server = await openLoopbackServer({
    port,
    ...limits,
    handle: (request) => entrance.handle(request),
    upgrade: (request, socket, head) => (entrance as Entrance).upgrade(request, socket, head),
  });
  closers.push(() => server.close());
  entrance.url = server.url;
  return entrance;
}

/** Starts what acts by itself, once everything that it acts on is there. */
async function setGoing(
  resources: readonly HostedResource[],
  { queues, functions, buses, machines }: HostedServices,
  closers: (() => Promise<void>)[],
  tickSeconds: number | undefined,
): Promise<void> {
  for (const resource of resources) {
    if (resource.type === 'AWS::Lambda::EventSourceMapping') startQueueMapping(resource, queues, functions);
  }
  await buses.start();
  await machines.start();
  const tick = tickSeconds === undefined ? {} : { tickSeconds };
  for (const resource of resources) {
    if (resource.type !== 'AWS::Scheduler::Schedule') continue;
    const schedule = startSchedule(resource, { clock: systemClock, functions, ...tick });
    closers.push(async () => schedule.stop());
  }
}

function apiHandler(
  httpApi: HttpApi | undefined,
  sockets: WebsocketServer | undefined,
  around: Parameters<typeof answerHttp>[2],
): Entrance['handle'] {
  return async (request) =>
    (await sockets?.manage(request)) ??
    (httpApi === undefined ? refusal(404, 'Not Found') : answerHttp(request, httpApi, around));
}

/** `kill=scheduler:P` means the function of that name, or of that name after the installation's. */
function withFunctionNames(spec: ChaosSpec, { resources }: HostedTemplate): ChaosSpec {
  const names = resources.filter(({ type }) => type === 'AWS::Lambda::Function').map(({ name }) => name);
  const kill = [...spec.kill].map(([wanted, probability]) => {
    const name = names.find((each) => each === wanted) ?? names.find((each) => each.endsWith(`-${wanted}`));
    if (name === undefined) {
      throw new HostError('INVALID_CHAOS', `--chaos: kill=${wanted} names no function; there are ${names.join(', ')}`);
    }
    return [name, probability] as const;
  });
  return { ...spec, kill: new Map(kill) };
}
