import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { createClient } from '#client/index.ts';
import { regionOfHost, signWithAws } from '#client/sigv4.ts';
import { type Heard, json, listen, runBody } from './listening-server.ts';

const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const credentials = async () => ({ accessKeyId: 'AKID', secretAccessKey: SECRET, sessionToken: 'session' });

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const escaped = (text: string) =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

/** The signature that AWS would make of a request, by its documentation alone; it throws where the header is of another form. */
function signatureOf({ method, address, headers, body }: Heard, region: string): { given: string; ours: string } {
  const [path = '', query = ''] = address.split('?');
  const form =
    /^AWS4-HMAC-SHA256 Credential=AKID\/(\d{8})\/([a-z0-9-]+)\/execute-api\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;
  const [, day = '', itsRegion, names = '', given = ''] = form.exec(headers.authorization ?? '') ?? [];
  expect(itsRegion).toBe(region);
  const pairs =
    query === '' ? [] : query.split('&').map((pair) => pair.split('=').map(decodeURIComponent).map(escaped));
  const canonical = [
    method,
    path.split('/').map(escaped).join('/'),
    pairs
      .map((pair) => pair.join('='))
      .sort()
      .join('&'),
    ...names.split(';').map((name) => `${name}:${String(headers[name]).trim().replaceAll(/ +/g, ' ')}`),
    '',
    names,
    sha256(body),
  ].join('\n');
  const scope = `${day}/${region}/execute-api/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = [region, 'execute-api', 'aws4_request'].reduce<Buffer>(hmac, hmac(`AWS4${SECRET}`, day));
  return { given, ours: createHmac('sha256', key).update(toSign).digest('hex') };
}

describe('a signed client', () => {
  it('signs method, path, query, headers and body of each request', async () => {
    const { url, heard } = await listen((_request, response) => json(response, 200, { items: [], ...runBody() }));
    const client = createClient({ url: `${url}/stage`, sign: signWithAws({ region: 'eu-central-1', credentials }) });
    await client.runs.get('r 1');
    await client.runs.list({ state: ['FAILED', 'ABORTED'], tags: { day: "it's * (1+1) / ü" } }).page();
    await client.runs.start('größe', { input: { text: 'ü' } });
    await client.pipelines.validate('name: p').catch(() => {});
    expect(heard).toHaveLength(4);
    for (const one of heard) {
      const { given, ours } = signatureOf(one, 'eu-central-1');
      expect(given, one.address).toBe(ours);
      expect(one.headers['x-amz-security-token']).toBe('session');
    }
    expect(heard[2]?.headers.authorization).toMatch(/SignedHeaders=[a-z0-9;-]*content-type[a-z0-9;-]*idempotency-key/);
  });

  it('signs anew each time that a request is sent', async () => {
    const { url } = await listen((_request, response, count) => {
      if (count < 3) response.writeHead(503).end('{"message":"Service Unavailable"}');
      else json(response, 200, runBody());
    });
    const asked = vi.fn(credentials);
    const sign = signWithAws({ region: 'eu-central-1', credentials: asked });
    await createClient({ url, sign, retries: { firstDelayMs: 1 } }).runs.get('r');
    expect(asked).toHaveBeenCalledTimes(3);
  });

  it('takes nothing of the signature along to where a large output is', async () => {
    const bucket = await listen((_request, response) => json(response, 200, { large: true }));
    const { url, heard } = await listen((_request, response) =>
      response.writeHead(307, { location: `${bucket.url}/object?X-Amz-Signature=1` }).end(),
    );
    const client = createClient({ url, sign: signWithAws({ region: 'eu-central-1', credentials }) });
    expect(await client.runs.output('r')).toEqual({ large: true });
    expect(heard[0]?.headers.authorization).toBeDefined();
    const sent = Object.keys(bucket.heard[0]?.headers ?? {});
    expect(sent.filter((name) => name === 'authorization' || name.startsWith('x-amz-'))).toEqual([]);
  });

  it('knows the region by the host, else by the environment', async () => {
    expect(regionOfHost('a1b2.execute-api.eu-central-1.amazonaws.com')).toBe('eu-central-1');
    expect(regionOfHost('a1b2.execute-api.cn-north-1.amazonaws.com.cn')).toBe('cn-north-1');
    expect(regionOfHost('millrace.example.org')).toBeUndefined();
    expect(regionOfHost('x.execute-api.eu-central-1.amazonaws.com.evil.test')).toBeUndefined();
    vi.stubEnv('AWS_REGION', 'sa-east-1');
    const request = { method: 'GET', url: new URL('https://millrace.example.org/v1/health'), headers: {} };
    const headers = await signWithAws({ credentials })(request);
    expect(headers['authorization']).toContain('/sa-east-1/execute-api/');
    vi.unstubAllEnvs();
  });
});
