import { devNull } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import type { Chaos } from '#local/chaos.ts';
import { hostRegion } from '#local/cloud-address.ts';
import { type FunctionLog, openFunctionLog } from '#local/function-log.ts';
import { HostError, unsupportedResource } from '#local/host-error.ts';
import { threadsFrom } from '#local/lambda-environment.ts';
import {
  FunctionPool,
  type HostedFunction,
  type InvocationOutcome,
  type InvocationRequest,
} from '#local/lambda-pool.ts';
import type { LogEvents } from '#local/log-events.ts';
import { processesFrom } from '#local/process-environment.ts';
import type { RuntimeEntries } from '#local/runtime-entries.ts';
import { StartGate } from '#local/start-gate.ts';
import type { HostedResource } from '#local/template.ts';
import type { WireLog } from '#local/wire-log.ts';
import type { WriteGuard } from '#local/write-guard.ts';

/** The Lambda functions of a template. */
export type LambdaFunctions = {
  /** Hosts an `AWS::Lambda::Function`. @throws {HostError} `UNSUPPORTED_RESOURCE` or `TEMPLATE_INVALID` */
  create(resource: HostedResource): void;
  /** The name of a hosted function, given by name, ARN, or either with a version; undefined if there is none. */
  find(nameOrArn: string): string | undefined;
  /** Invokes a function and waits for its end; never rejects for a function that was found. */
  invoke(functionName: string, request: InvocationRequest): Promise<InvocationOutcome>;
  /** Whether it is one of Millrace's own functions. */
  isOurs(functionName: string): boolean;
  /** Names of hosted functions. */
  names(): readonly string[];
  /** Opens one environment of each of our own functions, so that the first invocation finds it warm. */
  warm(): void;
  /** Invocations waiting or under way. */
  active(): number;
  /** Kills all environments. */
  close(): Promise<void>;
};

/** What the functions need from the host. */
export type FunctionsSurroundings = {
  readonly wireUrl: string;
  readonly wireLog: WireLog;
  readonly guard: Pick<WriteGuard, 'hasRoom'>;
  /** Where the lines of functions can be asked for; those of our own functions are in their files alone. */
  readonly logEvents: Pick<LogEvents, 'add' | 'end'>;
  /** The folder of the functions' logs. */
  readonly logFolder: string;
  /** Folder of a bundle, by the key that the template gives. */
  readonly assets: ReadonlyMap<string, string>;
  /** Overrides `MILLRACE_TICK_SECONDS` of our own functions. */
  readonly tickSeconds?: number;
  readonly chaos?: Chaos;
  readonly entries: RuntimeEntries;
};

const functionProperties = z.object({
  Code: z.object({ S3Key: z.string() }),
  Handler: z.string().regex(/.\../),
  Runtime: z.string(),
  Timeout: z.number().default(3),
  MemorySize: z.number().default(128),
  Environment: z.object({ Variables: z.record(z.string(), z.coerce.string()).default({}) }).default({ Variables: {} }),
});

/** Properties that change what code runs, which the host does not do. */
const refusedProperties = ['Layers', 'ImageConfig', 'DurableConfig', 'FileSystemConfigs'];

/** Environments of one function at a time; a thread takes some 20 MB, a process some 50 MB. */
const maxThreads = 10;
const maxProcesses = 16;
/** Environments that load at the same time: more than the machine has cores would only delay each other. */
const startsAtOnce = 2;

/** Hosts Lambda functions: our own (known by `MILLRACE_TABLE` in their environment) in worker threads, users' in processes. */
export function createLambdaFunctions(around: FunctionsSurroundings): LambdaFunctions {
  const pools = new Map<string, { pool: FunctionPool; log: FunctionLog; isOurs: boolean }>();
  const starts = new StartGate(startsAtOnce);
  const openThread = threadsFrom(around.entries.thread);
  const openProcess = processesFrom(around.entries.process);
  return {
    create(resource) {
      const { hosted, isOurs } = toHostedFunction(resource, around);
      const file = openFunctionLog(around.logFolder, resource.name, {
        stamped: !isOurs,
        hasRoom: () => around.guard.hasRoom(),
      });
      const log = isOurs ? file : withEvents(file, around.logEvents, resource.name);
      const { memoryMb } = hosted.settings;
      const pool = new FunctionPool(hosted, {
        open: isOurs ? openThread : openProcess,
        log,
        starts,
        billed(ms) {
          around.wireLog.invocation(resource.name, { billedMs: ms, memoryMb });
          around.chaos?.took(resource.name, ms);
        },
        planKill: () => around.chaos?.planKill(resource.name),
      });
      pools.set(resource.name, { pool, log, isOurs });
    },
    find(nameOrArn) {
      const name = nameOrArn.includes(':function:') ? nameOrArn.split(':function:')[1] : nameOrArn;
      const unqualified = name?.split(':')[0] ?? '';
      return pools.has(unqualified) ? unqualified : undefined;
    },
    async invoke(functionName, request) {
      const found = pools.get(functionName);
      if (found === undefined) throw new HostError('TEMPLATE_INVALID', `the template has no function ${functionName}`);
      const outcome = await found.pool.invoke(request);
      if (!found.isOurs) endLog(around.logEvents, functionName, outcome.requestId);
      return outcome;
    },
    isOurs: (functionName) => pools.get(functionName)?.isOurs === true,
    names: () => [...pools.keys()],
    warm() {
      for (const { pool, isOurs } of pools.values()) if (isOurs) pool.warm();
    },
    active: () => [...pools.values()].reduce((sum, { pool }) => sum + pool.active, 0),
    async close() {
      await Promise.all([...pools.values()].map(({ pool }) => pool.close()));
      await Promise.all([...pools.values()].map(({ log }) => log.close()));
    },
  };
}

/** What an invocation wrote last may be read after its outcome. */
const lastLinesMs = 200;

function endLog(logEvents: Pick<LogEvents, 'end'>, functionName: string, requestId: string): void {
  const write = () => logEvents.end(`/aws/lambda/${functionName}`, requestId, `END RequestId: ${requestId}`);
  setTimeout(write, lastLinesMs).unref();
}

/** A log whose lines can be asked for as well, each invocation's as a stream of its own. */
function withEvents(log: FunctionLog, logEvents: Pick<LogEvents, 'add'>, functionName: string): FunctionLog {
  return {
    line(text, requestId) {
      log.line(text, requestId);
      logEvents.add(`/aws/lambda/${functionName}`, requestId ?? 'outside', text);
    },
    close: () => log.close(),
  };
}

function toHostedFunction(
  resource: HostedResource,
  around: FunctionsSurroundings,
): { hosted: HostedFunction; isOurs: boolean } {
  const refused = refusedProperties.find((property) => Object.hasOwn(resource.properties, property));
  if (refused !== undefined) throw unsupportedResource(resource, `the development host does not know ${refused}`);
  const parsed = functionProperties.safeParse(resource.properties);
  if (!parsed.success) throw unsupportedResource(resource, z.prettifyError(parsed.error));
  const { Code, Handler, Runtime, Timeout, MemorySize, Environment } = parsed.data;
  if (!Runtime.startsWith('nodejs')) {
    throw unsupportedResource(resource, `the development host runs Node.js functions, not ${Runtime}`);
  }
  const taskRoot = around.assets.get(Code.S3Key);
  if (taskRoot === undefined) throw unsupportedResource(resource, `its code ${Code.S3Key} is no asset of the app`);
  const isOurs = Object.hasOwn(Environment.Variables, 'MILLRACE_TABLE');
  const settings = {
    functionName: resource.name,
    functionArn: resource.arn,
    memoryMb: MemorySize,
    handler: Handler,
    taskRoot,
  };
  const variables = {
    ...baseVariables(),
    ...Environment.Variables,
    ...(isOurs ? ownVariables(around.tickSeconds) : {}),
    ...lambdaVariables(settings, Runtime, around.wireUrl),
  };
  const maxEnvironments = isOurs ? maxThreads : maxProcesses;
  return { hosted: { settings, variables, timeoutMs: Timeout * 1000, maxEnvironments }, isOurs };
}

/** What is otherwise here than in an account: the tick may be set, and Step Functions has no quotas. */
function ownVariables(tickSeconds: number | undefined): Record<string, string> {
  return {
    MILLRACE_QUOTAS: 'none',
    ...(tickSeconds !== undefined && { MILLRACE_TICK_SECONDS: String(tickSeconds) }),
  };
}

/** What a template may override; on Lambda nothing else of a machine's environment is there. */
function baseVariables(): Record<string, string> {
  const { PATH = '' } = process.env;
  return { PATH: `${path.dirname(process.execPath)}${path.delimiter}${PATH}`, LANG: 'en_US.UTF-8', TZ: 'UTC' };
}

function lambdaVariables(
  settings: HostedFunction['settings'],
  runtime: string,
  wireUrl: string,
): Record<string, string> {
  return {
    LAMBDA_TASK_ROOT: settings.taskRoot,
    _HANDLER: settings.handler,
    AWS_REGION: hostRegion,
    AWS_DEFAULT_REGION: hostRegion,
    AWS_EXECUTION_ENV: `AWS_Lambda_${runtime}`,
    AWS_LAMBDA_FUNCTION_NAME: settings.functionName,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(settings.memoryMb),
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${settings.functionName}`,
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_ACCESS_KEY_ID: 'development-host',
    AWS_SECRET_ACCESS_KEY: 'development-host',
    AWS_ENDPOINT_URL_CLOUDWATCH_LOGS: wireUrl,
    AWS_ENDPOINT_URL_DYNAMODB: wireUrl,
    AWS_ENDPOINT_URL_EVENTBRIDGE: wireUrl,
    AWS_ENDPOINT_URL_S3: wireUrl,
    AWS_ENDPOINT_URL_SFN: wireUrl,
    AWS_ENDPOINT_URL_SQS: wireUrl,
    // A person's own profiles and credentials are none of the functions' business.
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}
