import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Host, type HostOptions, startHost, synthesizeApp } from '#local/host.ts';
import { collect, endFaults, evidenceFaults, type RunEvidence } from './fault-audit.ts';
import { FaultClient } from './fault-client.ts';
import type { Scenario } from './fault-pipelines.ts';

/** The pipeline's own edges. */
export function upstreamsOf({ definition }: Pick<Scenario, 'definition'>): Map<string, readonly string[]> {
  return new Map(definition.nodes.map(({ id, dependsOn = [] }) => [id, dependsOn]));
}

/** Synthesized once for all tests with faults, and again when what it is made from has changed. */
export function synthesizeFaults(): Promise<string> {
  return synthesizeApp({
    functionsDir: fileURLToPath(new URL('../fixtures/faults/functions/', import.meta.url)),
    outDir: fileURLToPath(new URL('../../node_modules/.cache/millrace-faults/', import.meta.url)),
  });
}

/** A folder for one host's data and the traces of its nodes. */
export async function makeFolder(): Promise<{ folder: string; dataDir: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-faults-'));
  await mkdir(join(folder, 'traces'));
  return { folder, dataDir: join(folder, 'data'), remove: () => rm(folder, { recursive: true, force: true }) };
}

/** A run under way. */
export interface Trial {
  readonly id: string;
  readonly scenario: Scenario;
  /** A file with one line for each invocation of a node. */
  readonly log: string;
}

/** Starts a run whose nodes take `ms` each. */
export async function begin(client: FaultClient, scenario: Scenario, folder: string, ms: number): Promise<Trial> {
  const key = randomUUID();
  const log = join(folder, 'traces', key);
  const id = await client.startRun(scenario.definition.name, { ms, log }, key);
  return { id, scenario, log };
}

/** Waits for the end of a run; what is wrong with it, as sentences, and what the API and the engine say. */
export async function judge(
  client: FaultClient,
  { id, scenario }: Trial,
  limitMs: number,
): Promise<{ readonly faults: string[]; readonly evidence: RunEvidence }> {
  await client.ended(id, limitMs);
  const evidence = await collect(client, id);
  const faults = [...endFaults(evidence, scenario), ...evidenceFaults(evidence, upstreamsOf(scenario))];
  return { faults: faults.map((fault) => `${scenario.definition.name} ${id}: ${fault}`), evidence };
}

/** Invocations of nodes that were made more often than once an attempt. Only a host's death may make any. */
export async function repeatedInvocations({ log }: Trial): Promise<string[]> {
  const lines = (await readFile(log, 'utf8').catch(() => '')).split('\n').filter(Boolean);
  return lines.filter((line, index) => lines.indexOf(line) !== index);
}

/** A host in this process with the pipelines put, and a client of it. */
export async function openFaultHost(
  options: Omit<HostOptions, 'cdkOut' | 'port'>,
  scenarios: readonly Scenario[],
): Promise<{ readonly host: Host; readonly client: FaultClient; readonly complaints: readonly string[] }> {
  const complaints: string[] = [];
  const log = (line: string) => complaints.push(line);
  const host = await startHost({ log, ...options, cdkOut: await synthesizeFaults(), port: 0 });
  const client = new FaultClient(() => host);
  for (const { definition } of scenarios) await client.putPipeline(definition);
  return { host, client, complaints };
}
