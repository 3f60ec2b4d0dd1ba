import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type Host, startHost, synthesizeApp } from '#local/host.ts';
import { HostError } from '#local/host-error.ts';
import { Api } from './api.ts';
import { type DemoOptions, readOptions } from './options.ts';
import { follow } from './progress.ts';
import { exampleFolder, prepare, type Scenario } from './scenario.ts';
import { duration, heading, line, styled } from './screen.ts';
import { printChaos, printCost, printFigures, printNodes } from './summary.ts';
import { reckonTruth } from './truth.ts';
import { flightsOutput, judge } from './verdict.ts';

const RUN_LIMIT_MS = 300_000;

/** Where synthesized templates are kept for the next time. */
const assemblies = fileURLToPath(new URL('../node_modules/.cache/millrace/', import.meta.url));

/** Does one step and says how long it took. */
async function step<T>(what: string, work: () => Promise<T>, say: (result: T) => string = () => ''): Promise<T> {
  const begun = performance.now();
  const result = await work();
  line(`  ${what.padEnd(34)} ${duration(performance.now() - begun).padStart(8)}   ${styled('dim', say(result))}`);
  return result;
}

async function hostApp(options: DemoOptions, data: string): Promise<Host> {
  const functionsDir = join(exampleFolder, 'functions');
  const cdkOut = await step('CDK app synthesized', () => synthesizeApp({ functionsDir, outDir: assemblies }));
  return await step(
    'its template hosted',
    () =>
      startHost({
        cdkOut,
        dataDir: join(data, 'host'),
        port: 0,
        ...(options.chaos !== undefined && { chaos: options.chaos }),
        ...(options.tick !== undefined && { tickSeconds: options.tick }),
        ...(options.seed !== undefined && { seed: options.seed }),
      }),
    ({ url }) => url,
  );
}

/** Runs the scenario on the host; true if it went as it should. */
async function runScenario(host: Host, scenario: Scenario): Promise<boolean> {
  const api = new Api(host.url);
  await step(
    `pipeline ${scenario.name} put`,
    () => api.putPipeline(scenario.name, scenario.text, scenario.type),
    (revision) => `revision ${revision}, ${scenario.upstreams.size} nodes`,
  );
  const before = host.wireLog.snapshot();
  const requestsBefore = api.requests;
  const { id } = await step(
    'run started',
    () => api.startRun(scenario.name, scenario.input, randomUUID()),
    (run) => run.id,
  );
  heading(`Run on ${scenario.input.file}`);
  const { run, nodes } = await follow(api, id, RUN_LIMIT_MS);
  const counts = host.wireLog.since(before);
  line();
  line(`  ${styled(run.state === 'SUCCEEDED' ? 'green' : 'red', run.state)}  ${run.message}`);
  printNodes(nodes, scenario.upstreams);
  if (host.chaos) printChaos(host.chaos);
  printCost(counts, api.requests - requestsBefore - 1);
  if (run.state !== 'SUCCEEDED') return false;
  const { dataFolder, file, months, lateShareLimit } = scenario.input;
  const output = flightsOutput.parse(run.output);
  const truth = await reckonTruth(join(dataFolder, file), new Set(months));
  const verdict = await judge(output, truth, nodes, lateShareLimit);
  printFigures(output, verdict);
  return verdict.wrong.length === 0;
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const data = options.data === undefined ? await mkdtemp(join(tmpdir(), 'millrace-demo-')) : resolve(options.data);
  const workFolder = join(data, 'flights');
  await mkdir(workFolder, { recursive: true });
  const scenario = await prepare({ large: options.large, limit: options.limit, workFolder });
  line(styled('bold', 'Millrace demo: flight delays'));
  const host = await hostApp(options, data);
  try {
    if (!(await runScenario(host, scenario))) process.exitCode = 1;
  } finally {
    await host.close();
  }
  line(styled('dim', `  state and files  ${data}`));
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = error instanceof HostError && error.code === 'INVALID_CHAOS' ? 2 : 1;
}

function messageOf(error: unknown): string {
  if (error instanceof z.ZodError)
    return `An answer has not the shape that the demo expects.\n${z.prettifyError(error)}`;
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined || error.message.startsWith(code) ? error.message : `${code}: ${error.message}`;
}
