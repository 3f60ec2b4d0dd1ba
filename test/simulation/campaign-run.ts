/** Plays random worlds on threads, says how far it has come, and tells the smallest world that fails. */
import type { Campaign, CampaignFailure, CampaignOutcome, PlanKind } from './campaign.ts';
import { Progress } from './campaign-progress.ts';
import { playOnThreads } from './campaign-threads.ts';
import { PLANS } from './random-plans.ts';

/** Worlds of one campaign at most. */
const CAMPAIGN_RUNS = 200;
/** How many turns a kind has in a round: worlds that take little time come more often, so that all kinds get about as much. */
const TURNS = {
  whole: 2,
  ending: 4,
  narrow: 6,
  family: 2,
  kin: 3,
  crowd: 1,
  paused: 2,
  limits: 1,
  asked: 1,
  answered: 1,
  scheduled: 1,
  backfilled: 1,
  silent: 1,
  bulky: 1,
  harsh: 1,
} as const satisfies Record<PlanKind, number>;
/** The kinds of a round, one turn of each before the second of any. */
const KINDS = Array.from({ length: Math.max(...Object.values(TURNS)) }, (_, turn) =>
  (Object.keys(PLANS) as PlanKind[]).filter((kind) => TURNS[kind] > turn),
).flat();
/** How much of a broken promise is told before the smallest world is found. */
const TOLD_LENGTH = 200;

/** What is to be played. */
export interface CampaignRequest {
  readonly runs: number;
  readonly seed: number;
  /** @default all in turn */
  readonly kind: PlanKind | undefined;
  /** Goes straight to one world. */
  readonly path: string | undefined;
  /** Whether the others are played after one that fails. */
  readonly keepsGoing: boolean;
  readonly threads: number;
  /** Whether the result is told as JSON. */
  readonly json: boolean;
}

type Counts = Pick<CampaignOutcome, 'runs' | 'operations' | 'faults' | 'starts' | 'ms'>;

/**
 * Plays what is asked for.
 * @returns the exit code: 1 where a world fails
 */
export async function runCampaigns(request: CampaignRequest): Promise<number> {
  const campaigns = plan(request);
  const total = campaigns.reduce((sum, { runs }) => sum + runs, 0);
  const progress = new Progress('worlds', total, `seed ${request.seed}`);
  const byKind = new Map<PlanKind, Counts>();
  const failures: CampaignFailure[] = [];
  const threads = await playOnThreads(campaigns, request.threads, {
    onPlayed({ kind }, outcome) {
      byKind.set(kind, add(byKind.get(kind), outcome));
      progress.done(outcome.runs);
      if (!outcome.failure) return;
      if (request.keepsGoing || failures.length === 0) tellFailure(outcome.failure, request.json);
      failures.push(outcome.failure);
    },
    keepsGoing: request.keepsGoing,
    onFailing: (message) => progress.say(`a world fails (${firstLine(message)}); looking for the smallest that does`),
  });
  const seconds = progress.end();
  if (failures.length > 0 && !request.keepsGoing) return 1;
  const failed = failures.length;
  const sum = [...byKind.values()].reduce<Counts | undefined>(add, undefined) as Counts;
  if (request.json) {
    const kinds = Object.fromEntries(byKind);
    process.stdout.write(
      `${JSON.stringify({ failed: failed > 0, failures: failed, seed: request.seed, threads, seconds, ...sum, kinds })}\n`,
    );
    return failed > 0 ? 1 : 0;
  }
  process.stdout.write(`${[HEAD, ...[...byKind].map(([kind, counts]) => row(kind, counts))].join('\n')}\n`);
  process.stdout.write(
    `${sum.runs} worlds, ${failed > 0 ? failed : 'none'} failed: ${sum.operations} port calls, ${sum.faults} faults, ${sum.starts} executions, ` +
      `${Math.round(sum.runs / seconds)} worlds a second on ${threads} threads, ${Math.round(seconds)} s, seed ${request.seed}\n`,
  );
  return failed > 0 ? 1 : 0;
}

/** Campaigns with seeds of their own, of all kinds in their turns. */
function plan({ runs, seed, kind, path }: CampaignRequest): Campaign[] {
  if (path !== undefined) return [{ kind: kind ?? 'whole', seed, runs: Number(path.split(':')[0]) + 1, path }];
  const kinds = kind ? [kind] : KINDS;
  // Few worlds are of all kinds too.
  const most = Math.min(CAMPAIGN_RUNS, Math.ceil(runs / kinds.length));
  const campaigns: Campaign[] = [];
  for (let done = 0; done < runs; done += most) {
    const number = campaigns.length;
    campaigns.push({
      kind: kinds[number % kinds.length] as PlanKind,
      // Far enough apart that two commands with neighbouring seeds do not play the same worlds.
      seed: (Math.imul(seed, 1_000_003) + number) | 0,
      runs: Math.min(most, runs - done),
    });
  }
  return campaigns;
}

function add(sum: Counts | undefined, { runs, operations, faults, starts, ms }: Counts): Counts {
  if (!sum) return { runs, operations, faults, starts, ms };
  return {
    runs: sum.runs + runs,
    operations: sum.operations + operations,
    faults: sum.faults + faults,
    starts: sum.starts + starts,
    ms: sum.ms + ms,
  };
}

const HEAD = 'kind          worlds  port calls    faults  executions  worlds/s of a thread';

function row(kind: string, { runs, operations, faults, starts, ms }: Counts): string {
  const columns = [
    [runs, 10],
    [operations, 12],
    [faults, 10],
    [starts, 12],
    [Math.round((runs * 1000) / ms), 22],
  ] as const;
  return kind.padEnd(10) + columns.map(([value, width]) => String(value).padStart(width)).join('');
}

function tellFailure(failure: CampaignFailure, isJson: boolean): void {
  const { kind, seed, path, plan: world, message } = failure;
  const replay = `npm run simulate -- --kind ${kind} --seed ${seed} --path ${path}`;
  if (isJson) process.stdout.write(`${JSON.stringify({ failed: true, ...failure, replay })}\n`);
  else {
    const told = JSON.stringify(world, null, 2);
    process.stdout.write(`a world fails, the smallest found:\n${told}\n${message}\n\nplay it again: ${replay}\n`);
  }
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, TOLD_LENGTH);
}
