/** `millrace/client/sigv4`: signs the requests of a client with AWS credentials. For Node.js. */
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { loadConfig, NODE_REGION_CONFIG_FILE_OPTIONS, NODE_REGION_CONFIG_OPTIONS } from '@smithy/core/config';
import { type AwsCredentials, signedHeaders } from '#function/signed-request.ts';
import type { Sign } from './send-request.ts';

/** How requests are signed. */
export interface SigningOptions {
  /** @default that of the host `….execute-api.REGION.amazonaws.com`, else AWS_REGION, else that of the AWS profile */
  readonly region?: string;
  /** Asked for each request. @default those that every AWS tool takes: environment, profiles, single sign-on, roles */
  readonly credentials?: () => Promise<AwsCredentials>;
}

/** There are no credentials, or nobody said of which region the API is. */
export class SigningError extends Error {
  override readonly name = 'SigningError';
  readonly code: 'NO_CREDENTIALS' | 'NO_REGION';

  constructor(code: SigningError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const HOST = /\.execute-api\.([a-z0-9-]+)\.(?:api\.aws|amazonaws\.com(?:\.cn)?)$/;

/** The region of an API, where its host names one. */
export function regionOfHost(hostname: string): string | undefined {
  return HOST.exec(hostname)?.[1];
}

/**
 * Signs each request (SigV4, service `execute-api`), for the option `sign` of `createClient`. A call is rejected with a
 * SigningError where there are no credentials or no region.
 *
 * @example
 * const client = createClient({ url: 'https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com', sign: signWithAws() });
 */
export function signWithAws({ region, credentials = ordinaryCredentials() }: SigningOptions = {}): Sign {
  const ordinaryRegion = loadConfig(NODE_REGION_CONFIG_OPTIONS, NODE_REGION_CONFIG_FILE_OPTIONS);
  return async (request) => {
    const { hostname } = request.url;
    const signedRegion = region ?? regionOfHost(hostname) ?? (await ordinaryRegion().catch(noRegion(hostname)));
    return signedHeaders(request, await credentials(), signedRegion);
  };
}

function noRegion(hostname: string): (error: unknown) => never {
  return (error) => {
    const message = `the host ${hostname} names no region of AWS, and none is set; set AWS_REGION.`;
    throw new SigningError('NO_REGION', message, { cause: error });
  };
}

function ordinaryCredentials(): () => Promise<AwsCredentials> {
  const provider = defaultProvider();
  return async () => {
    try {
      return await provider();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new SigningError('NO_CREDENTIALS', `no AWS credentials to sign with: ${why}`, { cause: error });
    }
  };
}
