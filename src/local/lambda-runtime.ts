import { existsSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';

/**
 * What runs inside a Lambda environment of the host, thread or process: it loads a handler and calls it, one invocation
 * at a time, as Lambda's own runtime for Node.js 24 does. It knows nothing of who runs it: the two entries give it a port.
 */

/** What an environment is for; it never changes while the environment lives. */
export type RuntimeSettings = {
  readonly functionName: string;
  readonly functionArn: string;
  readonly memoryMb: number;
  /** `file.export`, relative to `taskRoot`. */
  readonly handler: string;
  /** The folder of the function's bundle. */
  readonly taskRoot: string;
  /** Tells this environment apart from the function's others. */
  readonly logStreamName: string;
};

/** One invocation, as it is handed to an environment. */
export type RuntimeInvocation = {
  readonly requestId: string;
  /** JSON text. */
  readonly event: string;
  /** JSON text of `context.clientContext`. */
  readonly clientContext?: string;
  /** Milliseconds since 1970 at which the invocation is cut off. */
  readonly deadline: number;
};

/** An error as Lambda shows it to who invoked a function. */
export type FunctionError = {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
};

/** What an environment reports. `ms` is the time that the handler, or loading it, took. */
export type RuntimeReport =
  | { readonly kind: 'ready'; readonly ms: number }
  | { readonly kind: 'unusable'; readonly error: FunctionError }
  | { readonly kind: 'succeeded'; readonly requestId: string; readonly payload: string; readonly ms: number }
  | {
      readonly kind: 'failed';
      readonly requestId: string;
      readonly error: FunctionError;
      readonly ms: number;
      /** The environment ends right after this. */
      readonly isFatal?: boolean;
    };

/** How the runtime talks to the pool. */
export type RuntimePort = {
  report(report: RuntimeReport): void;
  onInvocation(take: (invocation: RuntimeInvocation) => void): void;
  /** Ends this environment with an exit code. */
  exit(code: number): void;
};

type Handler = (event: unknown, context: unknown) => unknown;

/** The largest response of a synchronous invocation, in bytes: 6 MB and what its envelope may add. */
const maxResponseBytes = 6_291_556;

/** Loads the handler, reports `ready`, and answers invocations until the environment ends. */
export async function serveInvocations(settings: RuntimeSettings, port: RuntimePort): Promise<void> {
  let current: { requestId: string; begun: number } | undefined;
  let isDying = false;
  const dieOf = (what: string, error: FunctionError, code: number) => {
    if (isDying) return;
    isDying = true;
    process.stderr.write(`ERROR\t${what}\t${JSON.stringify(error)}\n`);
    if (current === undefined) {
      port.report({ kind: 'unusable', error });
    } else {
      const ms = performance.now() - current.begun;
      port.report({ kind: 'failed', requestId: current.requestId, error, ms, isFatal: true });
    }
    port.exit(code);
  };
  process.on('uncaughtException', (error) => dieOf('Uncaught Exception', toFunctionError(error), 129));
  process.on('unhandledRejection', (reason) => {
    const { errorMessage, trace = [] } = toFunctionError(reason);
    const error = { errorType: 'Runtime.UnhandledPromiseRejection', errorMessage, trace };
    dieOf('Unhandled Promise Rejection', error, 128);
  });

  const begun = performance.now();
  let handler: Handler;
  try {
    handler = await loadHandler(settings);
  } catch (error) {
    port.report({ kind: 'unusable', error: toLoadError(error) });
    return;
  }
  port.onInvocation((invocation) => {
    // One that is handed over too late is not begun, so that it may be handed to another environment.
    if (isDying) return;
    current = { requestId: invocation.requestId, begun: performance.now() };
    void answer(handler, settings, invocation).then((report) => {
      current = undefined;
      if (!isDying) port.report(report);
    });
  });
  port.report({ kind: 'ready', ms: performance.now() - begun });
}

async function answer(
  handler: Handler,
  settings: RuntimeSettings,
  invocation: RuntimeInvocation,
): Promise<RuntimeReport> {
  const { requestId } = invocation;
  const begun = performance.now();
  try {
    const value = await handler(JSON.parse(invocation.event), invocationContext(settings, invocation));
    const payload = toPayload(value);
    return { kind: 'succeeded', requestId, payload, ms: performance.now() - begun };
  } catch (error) {
    return { kind: 'failed', requestId, error: toFunctionError(error), ms: performance.now() - begun };
  }
}

function toPayload(value: unknown): string {
  let payload: string | undefined;
  try {
    payload = JSON.stringify(value);
  } catch (cause) {
    const why = toFunctionError(cause).errorMessage.split('\n')[0];
    throw new Error(`Unable to stringify response body: ${why}`, { cause });
  }
  if (payload === undefined) return 'null';
  if (payload.length > maxResponseBytes / 4 && Buffer.byteLength(payload) > maxResponseBytes) {
    const error = new Error(`Response payload size exceeded maximum allowed payload size (${maxResponseBytes} bytes).`);
    error.name = 'Function.ResponseSizeTooLarge';
    throw error;
  }
  return payload;
}

function invocationContext(settings: RuntimeSettings, invocation: RuntimeInvocation): Record<string, unknown> {
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: settings.functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: settings.functionArn,
    memoryLimitInMB: String(settings.memoryMb),
    awsRequestId: invocation.requestId,
    logGroupName: `/aws/lambda/${settings.functionName}`,
    logStreamName: settings.logStreamName,
    clientContext: invocation.clientContext === undefined ? undefined : JSON.parse(invocation.clientContext),
    identity: undefined,
    getRemainingTimeInMillis: () => Math.max(0, invocation.deadline - Date.now()),
  };
}

async function loadHandler(settings: RuntimeSettings): Promise<Handler> {
  const dot = settings.handler.lastIndexOf('.');
  const [module, name] = [settings.handler.slice(0, dot), settings.handler.slice(dot + 1)];
  const file = ['mjs', 'js', 'cjs'].map((end) => path.join(settings.taskRoot, `${module}.${end}`)).find(existsSync);
  if (file === undefined) throw loadError('Runtime.ImportModuleError', `Error: Cannot find module '${module}'`);
  const exported: unknown = await import(pathToFileURL(file).href);
  const handler = memberOf(exported, name) ?? memberOf(memberOf(exported, 'default'), name);
  if (handler === undefined)
    throw loadError('Runtime.HandlerNotFound', `${settings.handler} is undefined or not exported`);
  if (typeof handler !== 'function')
    throw loadError('Runtime.HandlerNotFound', `${settings.handler} is not a function`);
  return handler as Handler;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function loadError(name: string, message: string): Error {
  const error = new Error(message);
  error.name = name;
  return error;
}

function toLoadError(error: unknown): FunctionError {
  const shown = toFunctionError(error);
  if (error instanceof SyntaxError) return { ...shown, errorType: 'Runtime.UserCodeSyntaxError' };
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') {
    return { ...shown, errorType: 'Runtime.ImportModuleError' };
  }
  return shown;
}

/** What is shown of an error, in characters and lines: what a state machine keeps of it is 32,768 characters in all. */
const shown = { type: 256, message: 16_384, traceLine: 512, traceLines: 25 };

/**
 * Errors may come from another realm (a vm context), so their shape counts, not their class. Anything can be thrown, so
 * that even looking at it may fail.
 */
function toFunctionError(error: unknown): FunctionError {
  try {
    if (typeof error === 'object' && error !== null && 'message' in error && 'name' in error) {
      const trace = 'stack' in error && typeof error.stack === 'string' ? error.stack.split('\n') : [];
      return {
        errorType: cut(String(error.name), shown.type),
        errorMessage: cut(String(error.message), shown.message),
        trace: trace.slice(0, shown.traceLines).map((line) => cut(line, shown.traceLine)),
      };
    }
    return { errorType: typeof error, errorMessage: cut(shownValue(error), shown.message), trace: [] };
  } catch {
    return { errorType: typeof error, errorMessage: 'something was thrown that cannot be read', trace: [] };
  }
}

function shownValue(value: unknown): string {
  try {
    return String(value);
  } catch {
    return typeof value;
  }
}

function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)} …`;
}
