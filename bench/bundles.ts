import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import type { Bundle } from '../infra/constructs/bundle.ts';
import { bundleOwnFunctions, bundleRegistrar } from '../infra/constructs/own-bundles.ts';
import type { Bench, Figure } from './bench.ts';

const child = fileURLToPath(new URL('bundle-process.ts', import.meta.url));
const STARTS = 10;
const KIB = 1024;
const TAKEN = JSON.stringify({ FailedEntryCount: 0, Entries: [{ EventId: '1' }] });
const times = z.array(z.number());

/** An event that each function can answer where every table and queue is empty. Of the registrar only the start is looked at. */
const EVENTS: ReadonlyMap<string, object> = new Map(
  Object.entries({
    scheduler: { kind: 'tick' },
    api: {
      version: '2.0',
      rawPath: '/v1/pipelines',
      rawQueryString: '',
      headers: {},
      requestContext: { requestId: 'bench', http: { method: 'GET', path: '/v1/pipelines' } },
      isBase64Encoded: false,
    },
    intake: { Records: [{ messageId: '1', body: '{}' }] },
    notifier: { requestContext: { connectionId: 'c', eventType: 'DISCONNECT', connectedAt: 0, requestId: 'bench' } },
  }),
);

/** What a cold start of each of our functions loads, and how long that takes on this machine. */
export const bundles: Bench = {
  name: 'bundles',
  title: `each of our functions in ${STARTS} new processes: what is loaded, how long it takes, what the first invocation adds`,
  async run(say) {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
    const aws = await openEmptyAws();
    try {
      say('bundling');
      const all = new Map(Object.entries({ ...bundleOwnFunctions({}), registrar: bundleRegistrar({}) }));
      const figures: Figure[] = [];
      for (const [name, bundle] of all) {
        const file = await written(join(folder, name), bundle);
        figures.push(...sizesOf(bundle));
        const starts: number[][] = [];
        for (let each = 1; each <= STARTS; each++) {
          say(`${name}, ${each} of ${STARTS}`);
          starts.push(await start(file, EVENTS.get(name), aws.url));
        }
        figures.push(...timesOf(name, starts));
      }
      return figures;
    } finally {
      aws.server.close();
      await rm(folder, { recursive: true });
    }
  },
};

function sizesOf({ name, files }: Bundle): Figure[] {
  const loaded = loadedAtOnce(files);
  const bytes = [...loaded].reduce((sum, file) => sum + (files.get(file)?.length ?? 0), 0);
  const code = [...files].filter(([file]) => file.endsWith('.mjs')).map(([, contents]) => contents);
  const packed = code.reduce((sum, contents) => sum + gzipSync(contents).length, 0);
  const sum = code.reduce((total, { length }) => total + length, 0);
  return [
    { what: `${name}: loaded at its start, KiB`, values: [bytes / KIB], decimals: 0, aim: '< 1000 where it can be' },
    { what: `${name}: files loaded at its start`, values: [loaded.size], decimals: 0 },
    { what: `${name}: all code, KiB`, values: [sum / KIB], decimals: 0 },
    { what: `${name}: all code, compressed, KiB`, values: [packed / KIB], decimals: 0 },
  ];
}

function timesOf(name: string, starts: readonly (readonly number[])[]): Figure[] {
  const at = (place: number) => starts.map((start) => start[place] ?? Number.NaN);
  const init = { what: `${name}: init, ms`, values: at(0) };
  if (!EVENTS.has(name)) return [init];
  const added = starts.map(([, first = Number.NaN, second = Number.NaN]) => first - second);
  return [init, { what: `${name}: what the first invocation takes longer than the second, ms`, values: added }];
}

/** The entry and all that it imports but what it imports dynamically. */
function loadedAtOnce(files: Bundle['files']): ReadonlySet<string> {
  const found = new Set(['index.mjs']);
  for (const file of found) {
    const code = Buffer.from(files.get(file) ?? []).toString();
    for (const [, other] of code.matchAll(/(?:from|import)"\.\/([^"]+\.mjs)"/g)) found.add(other as string);
  }
  return found;
}

async function written(folder: string, { files }: Bundle): Promise<string> {
  await mkdir(folder);
  for (const [file, contents] of files) await writeFile(join(folder, file), contents);
  return pathToFileURL(join(folder, 'index.mjs')).href;
}

/** Init, first and second invocation (ms). */
async function start(file: string, event: object | undefined, url: string): Promise<number[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [child, file, JSON.stringify(event ?? null)], {
    env: {
      // As on Lambda (`infra/constructs/node-function.ts`).
      NODE_OPTIONS: '--enable-source-maps',
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'bench',
      AWS_SECRET_ACCESS_KEY: 'bench',
      AWS_ENDPOINT_URL: url,
      MILLRACE_TABLE: 'bench',
      MILLRACE_BUS: 'bench',
      MILLRACE_INBOX_URL: `${url}/queue`,
      MILLRACE_LAMBDA_ENGINE_ARN: 'arn:aws:states:eu-west-1:123456789012:stateMachine:bench',
      MILLRACE_PAYLOAD_BUCKET: 'bench',
      MILLRACE_LIVE_URL: 'ws://127.0.0.1/live',
      MILLRACE_LIVE_RULE: 'bench',
    },
  });
  return times.parse(JSON.parse(stdout.slice(stdout.lastIndexOf('\n'))));
}

/** Answers every request at once: nothing is there, and what is sent was taken. */
async function openEmptyAws(): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/x-amz-json-1.0');
    response.end(TAKEN);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
