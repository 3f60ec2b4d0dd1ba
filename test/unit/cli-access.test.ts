import { describe, expect, it } from 'vitest';
import { accessTo } from '../../src/cli/connect.ts';
import { runHere } from './cli-capture.ts';
import { json, listen } from './client/listening-server.ts';

const API = 'https://a1b2.execute-api.eu-central-1.amazonaws.com';
const token = { MILLRACE_TOKEN: 't' };
const iam = { MILLRACE_AUTH: 'iam' };

describe('how requests say who makes them', () => {
  it.each([
    ['http://127.0.0.1:8787', { ...token, ...iam }, 'none'],
    ['http://localhost:8787', token, 'none'],
    ['http://[::1]:8787', iam, 'none'],
    [API, {}, 'iam'],
    [API, token, 'token'],
    [API, { ...token, ...iam }, 'iam'],
    [API, { MILLRACE_AUTH: 'none' }, 'none'],
    ['https://millrace.example.org', {}, 'none'],
    ['https://millrace.example.org', token, 'token'],
    ['https://millrace.example.org', iam, 'iam'],
    ['https://millrace.example.org', { MILLRACE_TOKEN: '' }, 'none'],
    ['http://millrace.example.org', {}, 'none'],
    ['http://127.0.0.1.example.org', {}, 'none'],
  ] as const)('to %s with %j: %s', (address, env, access) => {
    expect(accessTo(address, env)).toBe(access);
  });

  it('is never with a secret that others could read', async () => {
    const env = { MILLRACE_URL: 'http://127.0.0.1.example.org', ...token };
    expect(await runHere(['runs'], { env })).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'millrace: INSECURE_URL: MILLRACE_TOKEN is not sent to http://127.0.0.1.example.org: it could be read on the way. ' +
        'Name an address that begins with https://, or set MILLRACE_AUTH=none.',
    });
  });

  it('is not what MILLRACE_AUTH cannot be', async () => {
    const { code, stderr } = await runHere(['runs', '--url', API], { env: { MILLRACE_AUTH: 'password' } });
    expect(code).toBe(2);
    expect(stderr).toBe(
      'millrace: INVALID_AUTH: MILLRACE_AUTH is "password". It takes `iam`, which signs requests with AWS credentials, or `none`.',
    );
  });

  it('is not told to a server on this machine', async () => {
    const { url, heard } = await listen((_request, response) => json(response, 200, { items: [] }));
    expect(await runHere(['runs', '--url', url], { env: { ...token, ...iam } })).toMatchObject({ code: 0 });
    expect(heard[0]?.headers.authorization).toBeUndefined();
  });
});
