import { CliError } from './cli-error.ts';

/** Where `millrace dev` listens unless told otherwise. */
export const DEFAULT_URL = 'http://127.0.0.1:8787';

/**
 * The address of the server: `--url`, else `MILLRACE_URL`, else the development host's usual one.
 * @throws CliError `INVALID_URL`
 */
export function serverUrl(given: string | undefined, env: Readonly<Record<string, string | undefined>>): string {
  const { MILLRACE_URL } = env;
  const text = given ?? (MILLRACE_URL || undefined) ?? DEFAULT_URL;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    const source = given === undefined ? 'MILLRACE_URL' : '--url';
    throw new CliError('INVALID_URL', `${source}: ${JSON.stringify(text)} is no address.`, {
      next: `It takes one such as ${DEFAULT_URL}.`,
    });
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
