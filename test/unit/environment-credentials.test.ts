import { afterEach, describe, expect, it, vi } from 'vitest';
import { defaultProvider } from '#function/environment-credentials.ts';

describe('credentials of the environment', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('are those that Lambda sets, with the token of the function’s role', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    vi.stubEnv('AWS_SESSION_TOKEN', 'token');
    expect(await defaultProvider()()).toEqual({ accessKeyId: 'key', secretAccessKey: 'secret', sessionToken: 'token' });
  });

  it('need no token', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    vi.stubEnv('AWS_SESSION_TOKEN', undefined);
    expect(await defaultProvider()()).toEqual({ accessKeyId: 'key', secretAccessKey: 'secret' });
  });

  it.each(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])(
    'are refused without %s, when they are asked for',
    async (missing) => {
      vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
      vi.stubEnv(missing, undefined);
      const provider = defaultProvider();
      await expect(provider()).rejects.toThrow('the environment of the function has no AWS credentials');
    },
  );
});
