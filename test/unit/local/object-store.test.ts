import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LoopbackRequest } from '#local/loopback-server.ts';
import { type ObjectStore, type ObjectStoreOptions, openObjectStore } from '#local/object-store.ts';
import { createWireLog } from '#local/wire-log.ts';
import { temporaryDisk } from './temporary-disk.ts';

let place: Awaited<ReturnType<typeof temporaryDisk>>;
let store: ObjectStore;

async function open(chaos?: ObjectStoreOptions['chaos']): Promise<ObjectStore> {
  const folder = join(place.folder, 's3');
  const opened = await openObjectStore({ disk: place.disk, folder, wireLog: createWireLog(), ...(chaos && { chaos }) });
  opened.create('bucket');
  return opened;
}

beforeEach(async () => {
  place = await temporaryDisk();
  store = await open();
});
afterEach(() => place.remove());

async function send(method: string, target: string, body = '', headers: LoopbackRequest['headers'] = {}) {
  const request = { method, target, headers, body: Buffer.from(body), protocol: 'HTTP/1.1', sourceIp: '127.0.0.1' };
  const answer = await store.handle(request);
  return { ...answer, body: answer.body.toString() };
}

describe('the host’s S3', () => {
  it('keeps objects over a restart, each whole', async () => {
    await send('PUT', '/bucket/a/b%20c.json?x-id=PutObject', '{"a":1}', { 'content-type': 'application/json' });
    await send('PUT', '/bucket/a/b%20c.json', '{"a":2}', { 'content-type': 'application/json' });
    await place.reopen();
    store = await open();
    expect(await send('GET', '/bucket/a/b%20c.json?x-id=GetObject')).toMatchObject({
      status: 200,
      headers: { 'content-type': 'application/json', etag: expect.stringMatching(/^"[0-9a-f]{32}"$/) },
      body: '{"a":2}',
    });
    expect(await readdir(join(place.folder, 's3'))).toHaveLength(1);
  });

  it('removes what an earlier host wrote and did not come to name', async () => {
    await send('PUT', '/bucket/a', 'kept');
    await writeFile(join(place.folder, 's3', 'left-over'), 'half of it');
    store = await open();
    expect(await readdir(join(place.folder, 's3'))).not.toContain('left-over');
    expect((await send('GET', '/bucket/a')).body).toBe('kept');
  });

  it('says that an object is damaged whose file is not as long as it was', async () => {
    await send('PUT', '/bucket/a', 'the whole of it');
    const [file = ''] = await readdir(join(place.folder, 's3'));
    await writeFile(join(place.folder, 's3', file), 'half');
    expect(await send('GET', '/bucket/a')).toMatchObject({
      status: 500,
      body: expect.stringContaining('The object a is damaged'),
    });
  });

  it('gives readers either of two puts, and never nothing', async () => {
    await send('PUT', '/bucket/a', 'one');
    const puts = Array.from({ length: 20 }, (_, n) => send('PUT', '/bucket/a', n % 2 ? 'one' : 'two'));
    const gets = Array.from({ length: 20 }, () => send('GET', '/bucket/a'));
    await Promise.all(puts);
    for (const { status, body } of await Promise.all(gets)) {
      expect(status).toBe(200);
      expect(['one', 'two']).toContain(body);
    }
  });

  it.each([
    ['GET', '/bucket/absent', 404, 'NoSuchKey'],
    ['HEAD', '/bucket/absent', 404, 'NoSuchKey'],
    ['GET', '/elsewhere/a', 404, 'NoSuchBucket'],
    ['GET', '/bucket', 501, 'NotImplemented'],
    ['GET', '/bucket/?list-type=2', 501, 'NotImplemented'],
    ['GET', '/bucket/a?acl', 501, 'NotImplemented'],
    ['POST', '/bucket/a?uploads', 501, 'NotImplemented'],
    ['DELETE', '/bucket/a', 501, 'NotImplemented'],
    ['GET', '/bucket/%E0%A4%A', 400, 'InvalidURI'],
    ['GET', '/bucket/a?X-Amz-Date=20260101T120000Z&X-Amz-Expires=300', 403, 'AccessDenied'],
  ])('answers %s %s with %i %s', async (method, target, status, code) => {
    expect(await send(method, target)).toMatchObject({ status, body: expect.stringContaining(`<Code>${code}</Code>`) });
  });

  it('refuses bodies in the chunks that clients make of streams', async () => {
    const answer = await send('PUT', '/bucket/a', '5;chunk', { 'content-encoding': 'aws-chunked' });
    expect(answer).toMatchObject({ status: 501 });
  });

  it('is throttled by chaos', async () => {
    store = await open({ throttles: (api: string) => api === 'PutObject' });
    expect(await send('PUT', '/bucket/a', '1')).toMatchObject({
      status: 503,
      body: expect.stringContaining('SlowDown'),
    });
    expect(await send('GET', '/bucket/a')).toMatchObject({ status: 404 });
  });
});
