import { z } from 'zod';
import { unsupportedResource } from '#local/host-error.ts';
import type { Secrets } from '#local/secrets.ts';
import type { HostedResource } from '#local/template.ts';

/** An `AWS::Events::ApiDestination` on this machine. */
export type WebhookDestination = {
  readonly url: string;
  readonly method: string;
  /** What its connection adds to every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly ratePerSecond: number;
};

const destinationSchema = z.object({
  ConnectionArn: z.string(),
  HttpMethod: z.string(),
  InvocationEndpoint: z.url(),
  InvocationRateLimitPerSecond: z.coerce.number().int().min(1).max(300).default(300),
});

/** Strict, so that a credential that would be missing in a request is refused and not ignored. */
const connectionSchema = z.strictObject({
  ApiKeyAuthParameters: z.strictObject({ ApiKeyName: z.string(), ApiKeyValue: z.string() }).optional(),
  BasicAuthParameters: z.strictObject({ Username: z.string(), Password: z.string() }).optional(),
  InvocationHttpParameters: z
    .strictObject({ HeaderParameters: z.array(z.object({ Key: z.string(), Value: z.string() })).default([]) })
    .optional(),
});

const LOOPBACK: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * The API destinations of a template by ARN. Those that are not on this machine are left out and told of.
 * @throws {HostError} `UNSUPPORTED_RESOURCE` for another kind of credentials; `SECRET_NOT_GIVEN`
 */
export function readDestinations(
  resources: readonly HostedResource[],
  secrets: Secrets,
  log: (line: string) => void,
): ReadonlyMap<string, WebhookDestination> {
  const found = new Map<string, WebhookDestination>();
  for (const resource of resources.filter(({ type }) => type === 'AWS::Events::ApiDestination')) {
    const parsed = destinationSchema.safeParse(resource.properties);
    if (!parsed.success) throw unsupportedResource(resource, z.prettifyError(parsed.error));
    const { InvocationEndpoint: url, HttpMethod: method, InvocationRateLimitPerSecond: ratePerSecond } = parsed.data;
    if (!LOOPBACK.includes(new URL(url).hostname)) {
      log(
        `${resource.logicalId}: nothing is posted to ${url}; the development host calls addresses of this machine only`,
      );
      continue;
    }
    const connection = resources.find(({ arn }) => arn === parsed.data.ConnectionArn);
    if (connection === undefined) throw unsupportedResource(resource, 'its connection is not part of the template');
    found.set(resource.arn, { url, method, ratePerSecond, headers: headersOf(connection, secrets) });
  }
  return found;
}

function headersOf(connection: HostedResource, secrets: Secrets): Readonly<Record<string, string>> {
  const parsed = connectionSchema.safeParse(connection.properties['AuthParameters']);
  if (!parsed.success) throw unsupportedResource(connection, z.prettifyError(parsed.error));
  const { ApiKeyAuthParameters: apiKey, BasicAuthParameters: basic, InvocationHttpParameters: more } = parsed.data;
  const headers = (more?.HeaderParameters ?? []).map(({ Key, Value }) => [Key, secrets.resolve(Value)]);
  if (apiKey) headers.push([apiKey.ApiKeyName, secrets.resolve(apiKey.ApiKeyValue)]);
  if (basic) {
    const pair = `${secrets.resolve(basic.Username)}:${secrets.resolve(basic.Password)}`;
    headers.push(['authorization', `Basic ${Buffer.from(pair).toString('base64')}`]);
  }
  return Object.fromEntries(headers);
}
