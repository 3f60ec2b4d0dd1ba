/**
 * What the bundles of our own functions have in place of `@aws-sdk/credential-provider-node` (`infra/constructs/own-bundles.ts`). Lambda gives
 * a function its credentials in its environment; the SDK's chain would load eight ways more, of which none is ever tried there.
 */
import type { AwsCredentials } from './signed-request.ts';

/**
 * What clients of the SDK ask for credentials.
 * @throws Error (when asked) where the environment has none
 */
export function defaultProvider(): () => Promise<AwsCredentials> {
  return async () => {
    const {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
    } = process.env;
    if (!accessKeyId || !secretAccessKey) throw new Error('the environment of the function has no AWS credentials');
    return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  };
}
