/**
 * Plays random worlds, as many as you like: `npm run simulate -- --runs 100000 --seed 1`. The first one that fails is
 * shrunk, printed, and ends the command with 1. With `--kind` and `--path` it plays one failing world again.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Campaign, CampaignFailure, CampaignOutcome, PlanKind } from './campaign.ts';
import { PLANS } from './random-plans.ts';

/** Worlds of one campaign. */
const CAMPAIGN_RUNS = 500;
const KINDS = Object.keys(PLANS) as PlanKind[];

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10000' },
    seed: { type: 'string' },
    threads: { type: 'string' },
    kind: { type: 'string' },
    path: { type: 'string' },
  },
});

process.exitCode = await main();

async function main(): Promise<number> {
  const runs = wholeNumber('--runs', values.runs, 1);
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : wholeNumber('--seed', values.seed);
  const threads = values.threads === undefined ? availableParallelism() : wholeNumber('--threads', values.threads, 1);
  if (values.kind !== undefined && !KINDS.includes(values.kind as PlanKind)) {
    return refuse(`--kind must be one of ${KINDS.join(', ')}, not ${JSON.stringify(values.kind)}`);
  }
  const kind = values.kind as PlanKind | undefined;
  const campaigns =
    values.path === undefined
      ? plan(runs, seed, kind)
      : [{ kind: kind ?? ('whole' as const), seed, runs: Number(values.path.split(':')[0]) + 1, path: values.path }];
  return play(campaigns, threads, seed);
}

function wholeNumber(option: string, text: string, least = Number.MIN_SAFE_INTEGER): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  process.exit(refuse(`${option} must be a whole number${least > 0 ? ` of at least ${least}` : ''}, not ${text}`));
}

function refuse(message: string): number {
  process.stderr.write(`${message}\n`);
  return 2;
}

/** Campaigns with seeds of their own, of both kinds in turn. */
function plan(runs: number, seed: number, kind: PlanKind | undefined): Campaign[] {
  const campaigns: Campaign[] = [];
  for (let done = 0; done < runs; done += CAMPAIGN_RUNS) {
    const number = campaigns.length;
    campaigns.push({
      kind: kind ?? (KINDS[number % KINDS.length] as PlanKind),
      // Far enough apart that two commands with neighbouring seeds do not play the same worlds.
      seed: (Math.imul(seed, 1_000_003) + number) | 0,
      runs: Math.min(CAMPAIGN_RUNS, runs - done),
    });
  }
  return campaigns;
}

async function play(campaigns: readonly Campaign[], threads: number, seed: number): Promise<number> {
  const total = campaigns.reduce((sum, { runs }) => sum + runs, 0);
  const sums = { runs: 0, operations: 0, starts: 0, faults: 0 };
  const began = performance.now();
  const left = [...campaigns];
  let failure: CampaignFailure | undefined;
  const threadCount = Math.min(threads, campaigns.length);
  await Promise.all(
    Array.from({ length: threadCount }, async () => {
      const worker = new Worker(new URL('./campaign-worker.ts', import.meta.url));
      for (let next = left.shift(); next && !failure; next = left.shift()) {
        const outcome = await ask(worker, next);
        for (const key of ['runs', 'operations', 'starts', 'faults'] as const) sums[key] += outcome[key];
        failure ??= outcome.failure;
        progress(`${sums.runs} of ${total} worlds, ${rate(sums.runs, began)} a second, seed ${seed}`);
      }
      await worker.terminate();
    }),
  );
  progress('');
  if (failure) return tell(failure);
  const { runs, operations, starts, faults } = sums;
  process.stdout.write(
    `${runs} worlds, none failed: ${operations} port calls, ${faults} faults, ${starts} executions, ` +
      `${rate(runs, began)} worlds a second on ${threadCount} threads, seed ${seed}\n`,
  );
  return 0;
}

function ask(worker: Worker, campaign: Campaign): Promise<CampaignOutcome> {
  return new Promise((resolve, reject) => {
    const done = (outcome: CampaignOutcome) => {
      worker.off('error', reject);
      resolve(outcome);
    };
    worker.once('message', done);
    worker.once('error', reject);
    worker.postMessage(campaign);
  });
}

function rate(runs: number, began: number): number {
  return Math.round((runs * 1000) / Math.max(1, performance.now() - began));
}

function progress(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${line}`);
  else if (line !== '') process.stderr.write(`${line}\n`);
}

function tell({ kind, seed, path, plan: world, message }: CampaignFailure): number {
  process.stdout.write(
    `a world fails, the smallest found:\n${JSON.stringify(world, null, 2)}\n${message}\n\n` +
      `play it again: npm run simulate -- --kind ${kind} --seed ${seed} --path ${path}\n`,
  );
  return 1;
}
