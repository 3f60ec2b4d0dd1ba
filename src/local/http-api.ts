import { z } from 'zod';
import { unsupportedResource } from '#local/host-error.ts';
import { toHttpAnswer, toHttpEvent } from '#local/http-event.ts';
import type { LambdaFunctions } from '#local/lambda-functions.ts';
import { type LoopbackAnswer, type LoopbackRequest, refusal } from '#local/loopback-server.ts';
import type { HostedResource } from '#local/template.ts';
import type { WireLog } from '#local/wire-log.ts';

/** The HTTP API of a template: one `$default` route to one function. */
export type HttpApi = {
  readonly apiId: string;
  readonly functionName: string;
  /** After this time the gateway gives up. */
  readonly timeoutMs: number;
};

const api = z.object({ ProtocolType: z.literal('HTTP') });
const route = z.object({ ApiId: z.string(), RouteKey: z.literal('$default'), Target: z.string() });
const stage = z.object({ ApiId: z.string(), StageName: z.literal('$default') });
const integration = z.object({
  ApiId: z.string(),
  IntegrationType: z.literal('AWS_PROXY'),
  PayloadFormatVersion: z.literal('2.0'),
  IntegrationUri: z.string(),
  TimeoutInMillis: z.number().default(30_000),
});

/**
 * Finds the HTTP API among the resources; undefined if there is none. Authorizers are passed over: on a laptop the
 * loopback guard stands in for them.
 * @throws {HostError} `UNSUPPORTED_RESOURCE` for a second API, or one of another kind
 */
export function readHttpApi(resources: readonly HostedResource[], functions: LambdaFunctions): HttpApi | undefined {
  const [found, another] = ofType(resources, 'Api', api);
  if (another !== undefined) throw unsupportedResource(another.resource, 'the development host runs one HTTP API');
  if (found === undefined) return undefined;
  const apiId = found.resource.ref;
  const stages = ofType(resources, 'Stage', stage).filter(({ value }) => value.ApiId === apiId);
  const [entry] = ofType(resources, 'Route', route).filter(({ value }) => value.ApiId === apiId);
  if (entry === undefined || stages.length === 0) {
    throw unsupportedResource(found.resource, 'it needs a $default route and a $default stage');
  }
  const target = ofType(resources, 'Integration', integration).find(
    ({ resource }) => `integrations/${resource.ref}` === entry.value.Target,
  );
  if (target === undefined) throw unsupportedResource(entry.resource, `its target ${entry.value.Target} is not there`);
  const { IntegrationUri, TimeoutInMillis } = target.value;
  const functionName = functions.find(IntegrationUri);
  if (functionName === undefined)
    throw unsupportedResource(target.resource, `${IntegrationUri} is no function of the template`);
  return { apiId, functionName, timeoutMs: TimeoutInMillis };
}

function ofType<Schema extends z.ZodType>(
  resources: readonly HostedResource[],
  type: string,
  schema: Schema,
): { resource: HostedResource; value: z.infer<Schema> }[] {
  return resources
    .filter((resource) => resource.type === `AWS::ApiGatewayV2::${type}`)
    .map((resource) => {
      const parsed = schema.safeParse(resource.properties);
      if (!parsed.success) throw unsupportedResource(resource, z.prettifyError(parsed.error));
      return { resource, value: parsed.data };
    });
}

/** The largest event of a synchronous invocation: 6 MB. */
const maxEventBytes = 6 * 1024 * 1024;
/** API Gateway bills requests in steps of 512 KB. */
const billedStepBytes = 512 * 1024;

/** Answers one request as API Gateway does: through the function, or by itself where that fails. */
export async function answerHttp(
  request: LoopbackRequest,
  httpApi: HttpApi,
  around: { readonly functions: LambdaFunctions; readonly wireLog: WireLog; readonly domainName: string },
): Promise<LoopbackAnswer> {
  around.wireLog.call('http', request.method);
  around.wireLog.count('httpRequests', Math.max(1, Math.ceil(request.body.length / billedStepBytes)));
  const event = toHttpEvent(request, { apiId: httpApi.apiId, domainName: around.domainName }, Date.now());
  if (event === undefined) return refusal(400, 'Bad Request');
  if (Buffer.byteLength(event) > maxEventBytes) return refusal(413, 'Request Too Long');
  const timeout = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => timeout.resolve(undefined), httpApi.timeoutMs);
  const outcome = await Promise.race([around.functions.invoke(httpApi.functionName, { event }), timeout.promise]);
  clearTimeout(timer);
  if (outcome === undefined) return refusal(503, 'Service Unavailable');
  return outcome.ok ? toHttpAnswer(outcome.payload) : refusal(500, 'Internal Server Error');
}
