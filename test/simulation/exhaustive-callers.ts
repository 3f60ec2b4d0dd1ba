/** Callers of a small world that go through the very handlers of our functions: a client of the API, a rule of the bus. */
import type { Context } from 'aws-lambda';
import { createMemoryLogs } from '#adapters/memory/memory-logs.ts';
import type { Json } from '#domain/json.ts';
import type { StartCounts } from '#ports/index.ts';
import { createHandler as createApi } from '../../functions/api/handler.ts';
import { createHandler as createIntake } from '../../functions/intake/handler.ts';
import type { UserAct } from './users.ts';

/** A context as Lambda gives it, as far as anybody reads it. */
const CONTEXT = { awsRequestId: 'invocation', getRemainingTimeInMillis: () => 29_000 } as unknown as Context;
const SILENT = { info: () => {}, warn: () => {}, error: () => {} };
const STARTS_PER_MINUTE = 100;

/** A client posts to the API so long after the world's beginning (ms), and again until it is answered. */
export function posts(atMs: number, path: string, key: string): UserAct {
  const event = {
    version: '2.0',
    rawPath: path,
    rawQueryString: '',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: '{}',
    isBase64Encoded: false,
    requestContext: { requestId: 'request', http: { method: 'POST' } },
  };
  return {
    kind: 'ask',
    atMs,
    async ask(deps) {
      const api = createApi({ api: { ...deps, sleep: async () => {}, logs: createMemoryLogs() }, logger: SILENT });
      const { statusCode, body } = await api(event, CONTEXT);
      if (statusCode >= 400 && statusCode < 500) throw new Error(`the API refuses: ${body}`);
      return statusCode < 500;
    },
  };
}

/** The rule of the requests queue hands over an event so long after the world's beginning (ms), until it is taken. */
export function requests(
  atMs: number,
  event: { readonly id: string; readonly detailType: string; readonly detail: Json },
  startCounts: StartCounts,
): UserAct {
  const { id, detailType, detail } = event;
  const envelope = { version: '0', id, 'detail-type': detailType, source: 'acme.shop', detail };
  const where = { account: '111122223333', time: '2026-11-30T12:00:00Z', region: 'eu-central-1', resources: [] };
  const body = JSON.stringify({ ...envelope, ...where });
  return {
    kind: 'ask',
    atMs,
    async ask(pass) {
      const startsPerMinute = STARTS_PER_MINUTE;
      const intake = createIntake({ pass, startCounts, startsPerMinute, logger: SILENT, count: () => {} });
      const { batchItemFailures } = await intake({ Records: [{ messageId: id, body }] }, CONTEXT);
      return batchItemFailures.length === 0;
    },
  };
}
