import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createS3Payloads, type S3Payloads } from '#adapters/aws/s3-payloads.ts';
import { createMemoryPayloads } from '#adapters/memory/memory-payloads.ts';
import { openDisk } from '#local/disk.ts';
import type { LoopbackAnswer, LoopbackRequest } from '#local/loopback-server.ts';
import { openLoopbackServer } from '#local/loopback-server.ts';
import { openObjectStore } from '#local/object-store.ts';
import { createWireLog } from '#local/wire-log.ts';
import { describePayloads } from './payloads.contract.ts';

const BUCKET = 'Millrace-PayloadsBucket';

describePayloads('in memory', async () => {
  const payloads = createMemoryPayloads();
  return {
    payloads,
    isServed: false,
    tamper: async (key, text) => void payloads.stored.set(key, text),
    close: async () => {},
  };
});

/** The host's S3 behind a port of its own. */
async function openService() {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-payloads-'));
  const disk = await openDisk(folder);
  const wireLog = createWireLog();
  const store = await openObjectStore({ disk, folder: join(folder, 's3'), wireLog });
  store.create(BUCKET);
  const requests: LoopbackRequest[] = [];
  const answers: LoopbackAnswer[] = [];
  const server = await openLoopbackServer({
    port: 0,
    maxBodyBytes: 64 * 1024 * 1024,
    maxHeaderBytes: 65_536,
    handle: async (request) => {
      requests.push(request);
      return answers.shift() ?? store.handle(request);
    },
  });
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  vi.stubEnv('AWS_CONFIG_FILE', '/nowhere');
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nowhere');
  vi.stubEnv('AWS_ENDPOINT_URL_S3', server.url);
  const payloads: S3Payloads = createS3Payloads({ bucket: BUCKET, folder: 'inputs' });
  return {
    payloads,
    isServed: true,
    requests,
    answers,
    wireLog,
    url: server.url,
    async tamper(key: string, text: string) {
      await fetch(`${server.url}/${BUCKET}/${key}`, { method: 'PUT', body: text });
    },
    async close() {
      await payloads.close();
      await server.close();
      await disk.close();
      await rm(folder, { recursive: true });
      vi.unstubAllEnvs();
    },
  };
}

describePayloads('over the host’s S3', openService);

describe('payloads over S3', () => {
  let service: Awaited<ReturnType<typeof openService>>;
  beforeAll(async () => {
    service = await openService();
  });
  afterAll(() => service.close());
  afterEach(() => void service.answers.splice(0));

  const failed = (status: number, code: string): LoopbackAnswer => ({
    status,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>told so</Message></Error>`,
  });

  it('lets S3 check what arrives', async () => {
    await service.payloads.put('[5]');
    const digest = service.requests.at(-1)?.headers['x-amz-checksum-sha256'];
    expect(Buffer.from(String(digest), 'base64')).toHaveLength(32);
    const init = { method: 'PUT', body: '[6]', headers: { 'x-amz-checksum-sha256': String(digest) } };
    const answer = await fetch(`${service.url}/${BUCKET}/inputs/wrong`, init);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('BadDigest')]);
  });

  it('asks again where it is throttled, and counts what was asked', async () => {
    service.answers.push(failed(503, 'SlowDown'));
    const before = service.wireLog.snapshot();
    const ref = await service.payloads.put('[7]');
    expect(await service.payloads.read(ref)).toMatchObject({ kind: 'read' });
    expect(service.wireLog.since(before)).toMatchObject({
      objectWrites: 1,
      objectReads: 1,
      calls: { s3: { PutObject: 1, GetObject: 1 } },
    });
  });

  it('says that a text is gone where S3 says that it may not be read', async () => {
    const ref = await service.payloads.put('[8]');
    service.answers.push(failed(403, 'AccessDenied'));
    expect(await service.payloads.read(ref)).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('is not there (any more), or may not be read'),
    });
  });

  it('throws where S3 does not answer, for the pass to be repeated', async () => {
    const ref = await service.payloads.put('[9]');
    service.answers.push(...Array.from({ length: 4 }, () => failed(503, 'ServiceUnavailable')));
    await expect(service.payloads.read(ref)).rejects.toMatchObject({ name: 'ServiceUnavailable' });
  });
});
