import { z } from 'zod';
import { unsupportedResource } from '#local/host-error.ts';
import type { LambdaFunctions } from '#local/lambda-functions.ts';
import type { HostedResource } from '#local/template.ts';

/** The WebSocket API of a template. */
export type WebsocketApi = {
  readonly apiId: string;
  readonly stage: string;
  /** Names of functions by route key: `$connect`, `$disconnect`, `$default`, and values of `actionField`. */
  readonly routes: ReadonlyMap<string, string>;
  /** The field of a message that chooses its route. */
  readonly actionField: string;
};

const api = z.object({
  ProtocolType: z.literal('WEBSOCKET'),
  RouteSelectionExpression: z.string().regex(/^\$request\.body\.\w+$/),
});
const ofApi = z.object({ ApiId: z.string() });
const stage = z.object({ StageName: z.string() });
const route = z.object({ RouteKey: z.string(), Target: z.string() });
const integration = z.object({ IntegrationType: z.literal('AWS_PROXY'), IntegrationUri: z.string() });

/** The resources without those of WebSocket APIs, and those. */
export function splitWebsockets(resources: readonly HostedResource[]): {
  readonly others: readonly HostedResource[];
  readonly websockets: readonly HostedResource[];
} {
  const apis = new Set(resources.filter(isWebsocketApi).map(({ ref }) => ref));
  const isPart = (resource: HostedResource) =>
    isWebsocketApi(resource) || apis.has(ofApi.safeParse(resource.properties).data?.ApiId ?? '');
  const parts = Object.groupBy(resources, (resource) => (isPart(resource) ? 'websockets' : 'others'));
  return { others: parts.others ?? [], websockets: parts.websockets ?? [] };
}

function isWebsocketApi({ type, properties }: HostedResource): boolean {
  return type === 'AWS::ApiGatewayV2::Api' && properties['ProtocolType'] === 'WEBSOCKET';
}

/**
 * Finds the WebSocket API among its resources; undefined if there is none. Authorizers are passed over: on a laptop the
 * loopback guard stands in for them.
 * @throws {HostError} `UNSUPPORTED_RESOURCE` for a second API, or a part of another kind
 */
export function readWebsocketApi(
  resources: readonly HostedResource[],
  functions: Pick<LambdaFunctions, 'find'>,
): WebsocketApi | undefined {
  const [found, another] = ofType(resources, 'Api', api);
  if (another !== undefined) throw unsupportedResource(another.resource, 'the development host runs one WebSocket API');
  if (found === undefined) return undefined;
  const [entrance] = ofType(resources, 'Stage', stage);
  if (entrance === undefined) throw unsupportedResource(found.resource, 'it needs a stage');
  const integrations = ofType(resources, 'Integration', integration);
  const routes = ofType(resources, 'Route', route).map(({ resource, value: { RouteKey, Target } }) => {
    const target = integrations.find(({ resource: { ref } }) => `integrations/${ref}` === Target);
    if (target === undefined) throw unsupportedResource(resource, `its target ${Target} is not there`);
    const name = functions.find(functionIn(target.value.IntegrationUri));
    if (name === undefined) throw unsupportedResource(target.resource, 'it leads to no function of the template');
    return [RouteKey, name] as const;
  });
  const { RouteSelectionExpression: selection } = found.value;
  return {
    apiId: found.resource.ref,
    stage: entrance.value.StageName,
    routes: new Map(routes),
    actionField: selection.slice(selection.lastIndexOf('.') + 1),
  };
}

/** `arn:…:apigateway:REGION:lambda:path/2015-03-31/functions/ARN/invocations`, as WebSocket APIs want it. */
function functionIn(uri: string): string {
  return /\/functions\/(.+)\/invocations$/.exec(uri)?.[1] ?? uri;
}

function ofType<Schema extends z.ZodType>(resources: readonly HostedResource[], type: string, schema: Schema) {
  return resources
    .filter((resource) => resource.type === `AWS::ApiGatewayV2::${type}`)
    .map((resource) => {
      const parsed = schema.safeParse(resource.properties);
      if (!parsed.success) throw unsupportedResource(resource, z.prettifyError(parsed.error));
      return { resource, value: parsed.data };
    });
}
