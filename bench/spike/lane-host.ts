/** A development host whose scheduler and api start executions by the lane, and the process that runs them. */
import { type ChildProcess, fork } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { readAssembly } from '#local/assets.ts';
import { bundle } from '#local/bundling.ts';
import { type Host, startHost, synthesizeApp } from '#local/host.ts';
import { resolveTemplate } from '#local/template.ts';
import type { ServiceSays, ServiceSettings } from './express-service.ts';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const assemblies = here('../../node_modules/.cache/millrace/');

/** What the worker said last. */
export type WorkerCounts = Extract<ServiceSays, { readonly counts: unknown }>;

/** A host with the lane. */
export interface LaneHost extends Host {
  /** What the process of Express and of users' functions did since it began. */
  counts(): Promise<WorkerCounts>;
  /** `kill -9` of that process, in the middle of what it does. */
  killWorker(): Promise<void>;
  /** Begins it again, at the same address. */
  startWorker(): Promise<void>;
}

/** How to open one. */
export interface LaneHostOptions {
  /** @default the app's own */
  readonly tickSeconds?: number;
}

/** Opens a host with the lane, with state in a folder of its own. */
export async function openLaneHost({ tickSeconds }: LaneHostOptions = {}): Promise<LaneHost> {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-lane-'));
  const port = await freePort();
  const cdkOut = await withLane(dataDir, `http://127.0.0.1:${port}`);
  const host = await startHost({
    cdkOut,
    dataDir: join(dataDir, 'host'),
    port: 0,
    ...(tickSeconds !== undefined && { tickSeconds }),
  });
  const settings = serviceSettings(host, cdkOut, dataDir, port);
  let worker = await startWorker(settings);
  return {
    ...host,
    counts: () => ask(worker),
    killWorker: () => ended(worker, 'SIGKILL'),
    async startWorker() {
      worker = await startWorker(settings);
    },
    async close() {
      await host.close();
      await ended(worker, 'SIGKILL');
      await rm(dataDir, { recursive: true });
    },
  };
}

/** Puts a pipeline. Its nodes need a time limit that the lane can keep. */
export async function putDefinition({ url }: Host, definition: { readonly name: string } & object): Promise<void> {
  const response = await fetch(`${url}/v1/pipelines/${definition.name}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(definition),
  });
  if (!response.ok) throw new Error(await response.text());
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

const functionsOf = z.looseObject({
  Resources: z.record(z.string(), z.looseObject({ Type: z.string(), Properties: z.looseObject({}).optional() })),
});
const ownFunction = z.looseObject({
  FunctionName: z.string(),
  Code: z.object({ S3Key: z.string() }),
  Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
});

/** Copies the app's assembly, with the spike's own entries in the place of two of its functions. */
async function withLane(dataDir: string, laneUrl: string): Promise<string> {
  const original = await synthesizeApp({ functionsDir: here('functions/'), outDir: assemblies });
  const cdkOut = join(dataDir, 'cdk.out');
  await cp(original, cdkOut, { recursive: true });
  const file = join(cdkOut, 'Millrace.template.json');
  const template = functionsOf.parse(JSON.parse(await readFile(file, 'utf8')));
  const { assets } = readAssembly(cdkOut);
  for (const { Type, Properties } of Object.values(template.Resources)) {
    if (Type !== 'AWS::Lambda::Function') continue;
    const { FunctionName, Code, Environment } = ownFunction.parse(Properties);
    const name = /^millrace-(api|scheduler)$/.exec(FunctionName)?.[1];
    if (name === undefined) continue;
    Environment.Variables['MILLRACE_LANE_URL'] = laneUrl;
    Object.assign(Properties ?? {}, { Environment });
    await bundleEntry(here(`${name}-entry.ts`), join(assets.get(Code.S3Key) ?? '', 'index.mjs'));
  }
  await writeFile(file, JSON.stringify(template));
  return cdkOut;
}

async function bundleEntry(entry: string, outfile: string): Promise<void> {
  const require = "import { createRequire as __r } from 'node:module'; globalThis.require ??= __r(import.meta.url);";
  await bundle({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    mainFields: ['module', 'main'],
    minifyWhitespace: true,
    minifySyntax: true,
    banner: { js: require },
    logLevel: 'silent',
  });
}

function serviceSettings({ wireUrl, url }: Host, cdkOut: string, dataDir: string, port: number): ServiceSettings {
  const { resources } = resolveTemplate(readAssembly(cdkOut), { wireUrl, apiUrl: url });
  const table = resources.find(({ type }) => type.startsWith('AWS::DynamoDB::'));
  const inbox = resources.find(
    ({ type, logicalId }) => type === 'AWS::SQS::Queue' && logicalId.startsWith('InboxQueue'),
  );
  if (table === undefined || inbox === undefined) throw new Error('the template has no table or no inbox');
  return { cdkOut, dataDir, wireUrl, table: table.name, inboxUrl: inbox.ref, port };
}

async function startWorker(settings: ServiceSettings): Promise<ChildProcess> {
  const worker = fork(here('express-service.ts'), [JSON.stringify(settings)]);
  await new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve());
    worker.once('exit', (code) => reject(new Error(`the process of Express ended with ${code}`)));
  });
  return worker;
}

function ask(worker: ChildProcess): Promise<WorkerCounts> {
  return new Promise((resolve) => {
    worker.once('message', (said) => resolve(said as WorkerCounts));
    worker.send({});
  });
}

function ended(worker: ChildProcess, signal: 'SIGKILL'): Promise<void> {
  return new Promise((resolve) => {
    if (worker.exitCode !== null || worker.signalCode !== null) return resolve();
    worker.once('exit', () => resolve());
    worker.kill(signal);
  });
}
