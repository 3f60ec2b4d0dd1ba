import { createClient, type MillraceClient } from 'millrace/client';
import { signWithAws } from 'millrace/client/sigv4';

/** A client of an API on AWS, whose requests are signed with your ordinary AWS credentials. */
export function signedClient(url: string): MillraceClient {
  return createClient({ url, sign: signWithAws() });
}
