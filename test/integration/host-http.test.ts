import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Host, startHost } from '#local/host.ts';
import { writeAssembly } from './host-assembly.ts';

/** Shows its event, or behaves as the path says. */
const api = `
export const handler = async (event) => {
  console.log('handling ' + event.rawPath);
  if (event.rawPath === '/throw') throw new Error('no');
  if (event.rawPath === '/exit') process.exit(1);
  if (event.rawPath === '/hang') await new Promise(() => setInterval(() => {}, 1000));
  if (event.rawPath === '/bare') return { hello: 'there' };
  if (event.rawPath === '/binary') {
    return { statusCode: 200, body: 'AAEC', isBase64Encoded: true, headers: { 'content-type': 'image/png' } };
  }
  return {
    statusCode: 201,
    headers: { 'content-type': 'application/json', 'x-count': 3 },
    cookies: ['a=1', 'b=2'],
    body: JSON.stringify(event),
  };
};`;

let folder: string;
let host: Host;
let cdkOut: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'host-http-'));
  cdkOut = await writeAssembly({
    folder,
    own: { api, scheduler: 'export const handler = async () => {};' },
    users: {},
    ownTimeout: 1,
  });
  host = await startHost({ cdkOut, dataDir: path.join(folder, 'data'), port: 0 });
});

afterAll(async () => {
  await host.close();
  await rm(folder, { recursive: true });
});

/** Node's own client lets a test send any Host header. */
function statusWith(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject).end();
  });
}

describe('the HTTP API of the host', () => {
  it('hands the function an event of payload format 2.0, and maps its response', async () => {
    const response = await fetch(`${host.url}/v1/a%20b/c%2Fd?tag=x&tag=y%20z&empty=`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json', 'X-Mixed': 'Value' },
      body: '{"ü":1}',
    });
    expect(response.status).toBe(201);
    expect(response.headers.get('x-count')).toBe('3');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(await response.json()).toMatchObject({
      version: '2.0',
      routeKey: '$default',
      rawPath: '/v1/a b/c/d',
      rawQueryString: 'tag=x&tag=y%20z&empty=',
      queryStringParameters: { tag: 'x,y z', empty: '' },
      headers: { 'x-mixed': 'Value', 'content-type': 'application/json' },
      requestContext: { http: { method: 'PUT', path: '/v1/a b/c/d', protocol: 'HTTP/1.1' }, stage: '$default' },
      body: '{"ü":1}',
      isBase64Encoded: false,
    });
  });

  it('encodes bodies that are not known to be text', async () => {
    const response = await fetch(host.url, {
      method: 'POST',
      headers: { 'content-type': 'application/yaml' },
      body: 'a: 1',
    });
    expect(await response.json()).toMatchObject({
      isBase64Encoded: true,
      body: Buffer.from('a: 1').toString('base64'),
    });
  });

  it('answers binary bodies and values without a status', async () => {
    const binary = await fetch(`${host.url}/binary`);
    expect(new Uint8Array(await binary.arrayBuffer())).toEqual(new Uint8Array([0, 1, 2]));
    const bare = await fetch(`${host.url}/bare`);
    expect([bare.status, await bare.json()]).toEqual([200, { hello: 'there' }]);
  });

  it('answers 500 when the function throws, dies or takes too long, and the next request works', async () => {
    for (const bad of ['/throw', '/exit', '/hang']) {
      const response = await fetch(host.url + bad);
      expect([response.status, await response.json()]).toEqual([500, { message: 'Internal Server Error' }]);
      expect((await fetch(`${host.url}/next`)).status).toBe(201);
    }
  });

  it('answers malformed paths 400 and bodies above 10 MB 413', async () => {
    expect((await fetch(`${host.url}/%zz`)).status).toBe(400);
    const body = 'x'.repeat(10 * 1024 * 1024 + 1);
    const tooLarge = await fetch(host.url, { method: 'POST', body }).catch(() => undefined);
    expect(tooLarge?.status ?? 413).toBe(413);
    expect((await fetch(host.url, { method: 'POST', body: 'x'.repeat(7 * 1024 * 1024) })).status).toBe(413);
  });

  it('refuses foreign hosts and origins on both ports', async () => {
    const { port } = new URL(host.url);
    for (const url of [host.url, host.wireUrl]) {
      expect(await statusWith(url, { Host: `evil.example:${new URL(url).port}` })).toBe(403);
      expect(await statusWith(url, { Origin: 'https://evil.example' })).toBe(403);
      expect(await statusWith(url, { Origin: 'null' })).toBe(403);
    }
    expect(await statusWith(host.url, { Host: `localhost:${port}`, Origin: `http://localhost:${port}` })).toBe(201);
    expect(await statusWith(host.url, { Host: `127.0.0.1:${Number(port) + 1}` })).toBe(403);
  });

  it('refuses a port that is in use, and lets go of its data', async () => {
    const dataDir = path.join(folder, 'other');
    const port = Number(new URL(host.url).port);
    await expect(startHost({ cdkOut, dataDir, port })).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      message: expect.stringContaining(String(port)),
    });
    const other = await startHost({ cdkOut, dataDir, port: 0 });
    await other.close();
  });

  it("keeps the function's output, line by line", async () => {
    await fetch(`${host.url}/logged`);
    const log = path.join(folder, 'data', 'logs', 'test-api.log');
    await vi.waitFor(async () => expect(await readFile(log, 'utf8')).toContain('handling /logged\n'));
  });
});
