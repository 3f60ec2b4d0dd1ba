/** What CloudFormation asks for a resource `Custom::MillraceEngine` or `Custom::MillracePipeline`, read. */
import * as z from 'zod';
import { parseJsonStrict } from '#domain/json-text.ts';
import { engineRequestSchema } from '#http/engine-schemas.ts';
import { toFieldProblems } from '#http/field-problems.ts';
import { ApiProblem } from '#http/problem.ts';
import { refuseForbiddenKeys } from '#http/request-body.ts';

const STACK = /^arn:[^:]+:cloudformation:[^:]*:[^:]*:stack\/([^/]+)\/./;

/** Answers go to presigned addresses of S3; only the development host, on this machine, takes them in the clear. */
const responseUrl = z
  .url()
  .refine((url) => /^https:\/\/|^http:\/\/127\.0\.0\.1[:/]/.test(url), 'must begin with https://');

const requestSchema = z.object({
  RequestType: z.enum(['Create', 'Update', 'Delete']),
  ResponseURL: responseUrl,
  StackId: z.string().regex(STACK, 'must be the ARN of a stack'),
  RequestId: z.string().min(1),
  ResourceType: z.string().min(1),
  LogicalResourceId: z.string().min(1),
  PhysicalResourceId: z.string().min(1).optional(),
  ResourceProperties: z.record(z.string(), z.unknown()).default({}),
});

/** A request of CloudFormation. */
export type ResourceRequest = z.output<typeof requestSchema>;

/**
 * Reads the event of an invocation.
 * @throws ZodError for what is no such request: there is nobody to answer
 */
export function readRequest(event: unknown): ResourceRequest {
  return requestSchema.parse(event);
}

/** The most that a label's text may have. */
const MAX_OWNER = 256;

/** Whose an engine or a pipeline is: the stack's name and the resource's. It ends with what tells it from others. */
export function ownerOf({ StackId, LogicalResourceId }: ResourceRequest): string {
  return `${STACK.exec(StackId)?.[1]}/${LogicalResourceId}`.slice(-MAX_OWNER);
}

const nameSchema = z.object({ Name: z.string() });
const propertiesSchema = nameSchema.extend({ Registration: z.string() });

/** The name of an engine or a pipeline as the properties give it, right or wrong; nothing where they give none. */
export function givenName({ ResourceProperties }: ResourceRequest): string | undefined {
  return nameSchema.safeParse(ResourceProperties).data?.Name;
}

/**
 * What an engine is to be registered with. It is one JSON text, since CloudFormation makes text of every number.
 * @throws ApiProblem INVALID_REQUEST, INVALID_JSON, FORBIDDEN_KEY, as the route does
 */
export function readProperties({ ResourceProperties }: ResourceRequest) {
  const properties = propertiesSchema.safeParse(ResourceProperties);
  if (!properties.success) throw new ApiProblem('INVALID_REQUEST', z.prettifyError(properties.error));
  const { Name: name, Registration } = properties.data;
  const json = parseJsonStrict(Registration);
  if (!json.ok) throw new ApiProblem('INVALID_JSON', `Registration: ${json.errors[0]?.message ?? 'is no JSON'}`);
  refuseForbiddenKeys(json.value);
  const registration = engineRequestSchema.safeParse(json.value);
  if (registration.success) return { name, registration: registration.data };
  const errors = toFieldProblems(registration.error, json.value, Object.keys(engineRequestSchema.shape));
  const [first] = errors;
  throw new ApiProblem('INVALID_REQUEST', `${first?.path || 'Registration'}: ${first?.message}`, { errors });
}
