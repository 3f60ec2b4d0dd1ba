/** How commands get at a server: its address, and how they say who calls. */
import { type ClientOptions, createClient, type MillraceClient, type Sign } from '#client/index.ts';
import { CliError } from './cli-error.ts';
import type { ServerOptions } from './list-options.ts';
import { serverUrl } from './server-url.ts';

/** What the environment says. */
type Env = Readonly<Record<string, string | undefined>>;

/** How a request says who makes it. */
export type Access = 'none' | 'token' | 'iam';

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;
const EXECUTE_API = /\.execute-api\.[a-z0-9-]+\.(?:api\.aws|amazonaws\.com(?:\.cn)?)$/;

/**
 * How requests to an address say who makes them: with nothing on this machine; with a token where `MILLRACE_TOKEN` has one; with
 * a signature of AWS where `MILLRACE_AUTH` is `iam`, or the address is one that API Gateway gives.
 * @throws CliError `INVALID_AUTH`, `INSECURE_URL`
 */
export function accessTo(address: string, { MILLRACE_AUTH = '', MILLRACE_TOKEN = '' }: Env): Access {
  const { hostname, protocol } = new URL(address);
  if (MILLRACE_AUTH !== '' && MILLRACE_AUTH !== 'iam' && MILLRACE_AUTH !== 'none') {
    throw new CliError('INVALID_AUTH', `MILLRACE_AUTH is ${JSON.stringify(MILLRACE_AUTH)}.`, {
      next: 'It takes `iam`, which signs requests with AWS credentials, or `none`.',
    });
  }
  if (LOOPBACK.test(hostname) || MILLRACE_AUTH === 'none') return 'none';
  const access = accessBy(hostname, MILLRACE_AUTH, MILLRACE_TOKEN);
  if (access === 'none' || protocol === 'https:') return access;
  const what = access === 'token' ? 'MILLRACE_TOKEN is' : 'signatures of AWS are';
  throw new CliError('INSECURE_URL', `${what} not sent to ${address}: it could be read on the way.`, {
    next: 'Name an address that begins with https://, or set MILLRACE_AUTH=none.',
  });
}

function accessBy(hostname: string, auth: string, token: string): Access {
  if (auth === 'iam') return 'iam';
  if (token !== '') return 'token';
  return EXECUTE_API.test(hostname) ? 'iam' : 'none';
}

/**
 * The client of the server that a command was told of.
 * @throws CliError `INVALID_URL`, `INVALID_AUTH`, `INSECURE_URL`
 */
export function connect({ url }: Pick<ServerOptions, 'url'>, env: Env): MillraceClient {
  const address = serverUrl(url, env);
  return createClient({ url: address, ...credentialsFor(address, env) });
}

/**
 * What makes the requests of a client say who calls.
 * @throws CliError `INVALID_AUTH`, `INSECURE_URL`
 */
export function credentialsFor(address: string, env: Env): Pick<ClientOptions, 'token' | 'sign'> {
  const { MILLRACE_TOKEN: token } = env;
  const access = accessTo(address, env);
  if (access === 'iam') return { sign: signLater() };
  return access === 'token' && token !== undefined ? { token } : {};
}

/** What signs is loaded with the first request: most commands are for a server that wants none of it. */
function signLater(): Sign {
  let signer: Promise<Sign> | undefined;
  return async (request) => {
    signer ??= import('../client/sigv4.ts').then(({ signWithAws }) => signWithAws());
    return (await signer)(request);
  };
}
