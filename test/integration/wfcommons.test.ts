/** Recorded workflows, imported and run; `MILLRACE_WFCOMMONS=FOLDER` takes every file of a folder instead of our own. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importWfCommons } from '#authoring/wfcommons.ts';
import { type Host, startHost, synthesizeApp } from '#local/host.ts';
import { FaultClient } from './fault-client.ts';
import type { Scenario } from './fault-pipelines.ts';
import { judge, makeFolder } from './fault-trial.ts';

const own = fileURLToPath(new URL('../fixtures/wfformat/', import.meta.url));
const workflows = process.env['MILLRACE_WFCOMMONS'] ?? own;
const files = workflows === own ? ['mosaic.json'] : (await readdir(workflows)).filter((name) => name.endsWith('.json'));

/** What the longest chain of tasks, and all tasks on the host's 16 processes, may take (ms). */
const LONGEST_MS = 3_000;
const PROCESSES = 16;

let host: Host;
let place: Awaited<ReturnType<typeof makeFolder>>;
beforeAll(async () => {
  place = await makeFolder();
  const cdkOut = await synthesizeApp({
    functionsDir: fileURLToPath(new URL('../../examples/wfcommons/functions/', import.meta.url)),
    outDir: fileURLToPath(new URL('../../node_modules/.cache/millrace-faults/', import.meta.url)),
  });
  host = await startHost({ cdkOut, dataDir: place.dataDir, port: 0 });
});
afterAll(async () => {
  await host.close();
  await place.remove();
});

type Definition = Scenario['definition'];

function secondsOf({ params }: Definition['nodes'][number]): number {
  return (params as { payload: { seconds: number } }).payload.seconds;
}

/** Seconds of the longest chain; nodes of a file come in any order. */
function longestChain({ nodes }: Definition): number {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const known = new Map<string, number>();
  const pending = nodes.map(({ id }) => id);
  while (pending.length > 0) {
    const id = pending.at(-1) as string;
    const node = byId.get(id) as Definition['nodes'][number];
    const open = (node.dependsOn ?? []).filter((upstream) => !known.has(upstream));
    if (open.length > 0) pending.push(...open);
    else {
      pending.pop();
      known.set(id, secondsOf(node) + Math.max(0, ...(node.dependsOn ?? []).map((each) => known.get(each) ?? 0)));
    }
  }
  return Math.max(...known.values());
}

/** Imported at a scale that lets it end in seconds. */
function importQuickly(text: string): Definition {
  const recorded = importWfCommons(text);
  const total = recorded.nodes.reduce((sum, node) => sum + secondsOf(node), 0);
  const recordedMs = 1000 * Math.max(longestChain(recorded), total / PROCESSES);
  return importWfCommons(text, { timeScale: Math.min(1, LONGEST_MS / recordedMs) });
}

describe('a recorded workflow', () => {
  it.each(files)('%s runs to its end, each node started once and after its upstreams', async (file) => {
    const text = await readFile(join(workflows, file), 'utf8');
    const definition = importQuickly(text);
    const scenario: Scenario = { definition, state: 'SUCCEEDED', others: new Map() };
    const client = new FaultClient(() => host);
    await client.putPipeline(definition);
    const begun = performance.now();
    const id = await client.startRun(definition.name, {}, file);
    const { state } = await client.ended(id, 240_000);
    const seconds = (performance.now() - begun) / 1000;
    const { faults, evidence } = await judge(client, { id, scenario, log: '' }, 0);
    expect(faults).toEqual([]);
    expect(evidence.executions).toHaveLength(definition.nodes.length);
    if (workflows === own) return;
    const rate = definition.nodes.length / seconds;
    const figures = `${definition.nodes.length} nodes, ${seconds.toFixed(1)} s, ${rate.toFixed(1)} nodes/s`;
    process.stdout.write(
      `${basename(file)}: ${state}, ${figures}, shortest possible ${longestChain(definition).toFixed(1)} s\n`,
    );
  });
});
