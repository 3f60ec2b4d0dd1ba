import { z } from 'zod';
import type { PreparedTask } from '#local/asl-definition.ts';
import type { LambdaFunctions } from '#local/lambda-functions.ts';

/** The largest input or output of a state: 256 KiB. */
export const maxStateBytes = 262_144;

/** An error of a task, as `Retry` and `Catch` see it: `name` is the error, `message` its cause. */
export class TaskError extends Error {
  /** What the states language says of errors that no `Retry` and no `Catch` may match. */
  readonly isRetryable: boolean;
  readonly isCatchable: boolean;

  constructor(name: string, cause: string, options: { readonly isFinal?: boolean } = {}) {
    super(cause);
    this.name = name;
    this.isRetryable = options.isFinal !== true;
    this.isCatchable = options.isFinal !== true;
  }
}

const invokeArguments = z.object({
  FunctionName: z.string(),
  Payload: z.unknown().optional(),
  ClientContext: z.string().optional(),
  InvocationType: z.enum(['RequestResponse', 'Event']).optional(),
});

/**
 * Runs a Lambda task and gives its result: the function's own for a function's ARN, the answer of Lambda's API for `lambda:invoke`.
 * @throws {TaskError}
 */
export async function runLambdaTask(
  functions: LambdaFunctions,
  task: PreparedTask,
  argument: unknown,
): Promise<unknown> {
  if (task.functionArn !== undefined) {
    return JSON.parse(await invoke(functions, task.functionArn, { event: JSON.stringify(argument) }));
  }
  const parsed = invokeArguments.safeParse(argument);
  if (!parsed.success) throw new TaskError('Lambda.InvalidParameterValueException', z.prettifyError(parsed.error));
  const { FunctionName, Payload = {}, ClientContext, InvocationType } = parsed.data;
  const request = {
    event: JSON.stringify(Payload),
    ...(ClientContext === undefined ? {} : { clientContext: decodeClientContext(ClientContext) }),
  };
  if (InvocationType === 'Event') {
    void functions.invoke(resolve(functions, FunctionName), request);
    return answer(202, '');
  }
  return answer(200, JSON.parse(await invoke(functions, FunctionName, request)));
}

async function invoke(
  functions: LambdaFunctions,
  nameOrArn: string,
  request: { event: string; clientContext?: string },
): Promise<string> {
  const outcome = await functions.invoke(resolve(functions, nameOrArn), request);
  if (!outcome.ok) throw new TaskError(outcome.error.errorType, JSON.stringify(outcome.error));
  if (outcome.payload.length > maxStateBytes / 3 && Buffer.byteLength(outcome.payload) > maxStateBytes) {
    const cause = `The task returned a result with a size exceeding the maximum number of bytes service limit (${maxStateBytes}).`;
    throw new TaskError('States.DataLimitExceeded', cause, { isFinal: true });
  }
  return outcome.payload;
}

function resolve(functions: LambdaFunctions, nameOrArn: string): string {
  const name = functions.find(nameOrArn);
  if (name !== undefined) return name;
  const cause = `Function not found: ${nameOrArn} (Service: Lambda, Status Code: 404). The development host has: ${functions.names().join(', ')}`;
  throw new TaskError('Lambda.ResourceNotFoundException', cause);
}

function decodeClientContext(text: string): string {
  const decoded = Buffer.from(text, 'base64').toString();
  try {
    JSON.parse(decoded);
  } catch {
    throw new TaskError(
      'Lambda.InvalidRequestContentException',
      'Client context must be a valid Base64-encoded JSON object.',
    );
  }
  return decoded;
}

function answer(status: number, payload: unknown): unknown {
  return {
    ExecutedVersion: '$LATEST',
    Payload: payload,
    SdkHttpMetadata: { HttpStatusCode: status },
    StatusCode: status,
  };
}
