/** A process of its own that starts a host, runs one node and prints how long each step took. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [outDir = ''] = process.argv.slice(2);
const taken: { what: string; ms: number }[] = [{ what: 'Node.js itself', ms: performance.now() }];

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await work();
  taken.push({ what, ms: performance.now() - begun });
  return result;
}

const { functionsDir, put, start, untilOver } = await timed('loading the host', () => import('./bench-host.ts'));
const { startHost, synthesizeApp } = await import('#local/host.ts');
const { chain } = await import('./pipelines.ts');

const cdkOut = await timed('synthesis, found in the cache', () => synthesizeApp({ functionsDir, outDir }));
const dataDir = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
const host = await timed('hosting the template', () => startHost({ cdkOut, dataDir, port: 0 }));
await timed('the first answer', () => fetch(`${host.url}/v1/health`));
await timed('a pipeline put', () => put(host, chain(1)));
await timed('the first run, one node', async () => untilOver(host, await start(host, chain(1))));
await timed('the second run, one node', async () => untilOver(host, await start(host, chain(1))));
await timed('closing', () => host.close());
await rm(dataDir, { recursive: true });
process.stdout.write(JSON.stringify([...taken, { what: 'the whole process', ms: performance.now() }]));
