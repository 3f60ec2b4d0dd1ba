/** Whether the runs that a pipeline starts by itself are those that its schedule, its pauses and the events ask for. */
import type { RunRecord } from '#domain/run.ts';
import { isQuiet } from './chance.ts';
import { require } from './invariant-error.ts';
import type { Plan } from './plan.ts';
import { eventIdOf, type PlannedRequest } from './plan-asks.ts';
import { pipelineName } from './plan-definition.ts';
import { playedBy } from './plan-scenario.ts';
import type { World } from './world.ts';

const MINUTE_MS = 60_000;
/** For how long an instant of a moment ago may have no run yet where nothing goes wrong, beside two ticks (ms). */
const SLACK_MS = 5_000;

/** An entry of a schedule for as long as it stood. */
interface Stood {
  readonly entry: string;
  readonly everyMs: number;
  /** Its instants are so long after each multiple of `everyMs` (ms since the epoch). */
  readonly offset: number;
  /** Instants come after this. */
  readonly since: number;
  /** It stood until then, and perhaps a while longer: its pipeline was deleted some time until `goneAt`. */
  readonly until: number;
  readonly goneAt: number;
  readonly catchUp: string;
}

/** Checks all that the pipeline of a plan started by itself. */
export function checkStartsByThemselves(plan: Plan, world: World): void {
  if (!plan.requests && !plan.orders) return;
  const name = pipelineName(undefined);
  const ofPipeline = world.runs.everAll().filter(({ pipeline }) => pipeline === name);
  const entries = standingIn(plan, world, name);
  const scheduled = ofPipeline.filter(({ trigger }) => trigger.type === 'schedule');
  for (const run of scheduled) checkInstant(world, run, entries);
  const instants = scheduled.map(({ trigger }) => `${trigger.entry} ${trigger.instant}`);
  require(world, new Set(instants).size === instants.length, () => `an instant has two runs: ${instants.join(', ')}`);
  for (const entry of entries) checkComplete(plan, world, entry, new Set(instants));
  const heard = ofPipeline.filter(({ trigger }) => trigger.type === 'event');
  for (const run of heard) checkNotPaused(world, run, `run ${run.id} of an event`);
  checkRequests(plan, world, heard);
}

/** Which entries stood when, by the heads that were committed. */
function standingIn(plan: Plan, world: World, pipeline: string): Stood[] {
  const heads = world.trace.heads.filter(({ name }) => name === pipeline);
  const deletion = world.users.told.find(({ act, answer }) => act.kind === 'deletePipeline' && answer === 'deleted');
  const stood: Stood[] = [];
  for (const [place, { revision, at, cursors }] of heads.entries()) {
    const of = { pipeline, revision, tags: [], trigger: { type: 'api' as const } };
    const next = heads[place + 1]?.at ?? Number.POSITIVE_INFINITY;
    // A put that was under way meanwhile makes the pipeline anew.
    const ending = deletion && at <= deletion.at ? deletion : undefined;
    const until = Math.min(next, ending?.askedAt ?? Number.POSITIVE_INFINITY);
    const goneAt = Math.min(next, ending?.at ?? Number.POSITIVE_INFINITY);
    for (const { id = '', cron, rate, catchUp = 'none' } of playedBy(plan, of).schedule ?? []) {
      const everyMs = everyMsOf({ cron, rate });
      const since = cursors.get(id) ?? at;
      const offset = cron === undefined ? since % everyMs : 0;
      const before = stood.find((one) => one.entry === id && one.until === at && one.since === since);
      if (before) stood.splice(stood.indexOf(before), 1);
      stood.push({ entry: id, everyMs, offset, since, until, goneAt, catchUp });
    }
  }
  return stood;
}

/** How far apart the instants of an entry of a plan are (ms). */
export function everyMsOf({ cron, rate }: { readonly cron?: string | undefined; readonly rate?: string | undefined }) {
  return (cron?.startsWith('*/2') || rate?.startsWith('2') ? 2 : 1) * MINUTE_MS;
}

function checkInstant(world: World, run: RunRecord, entries: readonly Stood[]): void {
  const { trigger, createdAt } = run;
  const instant = Date.parse(trigger.instant ?? '');
  const skew = 2 * (world.faults.skewMs ?? 0);
  const latest = latestMs(world);
  const what = `run ${run.id} of ${trigger.entry} at ${trigger.instant}`;
  const isOfEntry = entries.some(
    ({ entry, everyMs, offset, since, goneAt }) =>
      entry === trigger.entry && instant % everyMs === offset && instant > since && createdAt <= goneAt + latest,
  );
  require(world, isOfEntry, () => `${what} is of no entry that stood: ${JSON.stringify(entries)}`);
  require(world, createdAt >= instant - skew, () => `${what} was started before that`);
  checkNotPaused(world, run, what);
  for (const { from, until = Number.POSITIVE_INFINITY } of world.trace.pauses) {
    // What lies between the asking and its commit, the one that resumes takes for later than the pause.
    const resumedAt = world.users.told.find(({ act, at }) => act.kind === 'resumePipeline' && at >= until)?.askedAt;
    const isOfPause = instant > from + latest && instant < Math.min(until, resumedAt ?? until) - skew;
    require(world, !isOfPause, () => `${what} was started, the pipeline was paused then`);
  }
}

/** For how long what has looked before may start something still (ms). */
function latestMs({ faults, options }: World): number {
  const isQuietWorld = !faults.choose && (faults.at?.size ?? 0) === 0;
  return SLACK_MS + (isQuietWorld ? 0 : options.passMs + 2 * (faults.skewMs ?? 0));
}

/** Nothing starts by itself while its pipeline is paused. */
export function checkNotPaused(world: World, { createdAt }: RunRecord, what: string): void {
  const skew = 2 * (world.faults.skewMs ?? 0);
  const latest = latestMs(world);
  for (const { from, until = Number.POSITIVE_INFINITY } of world.trace.pauses) {
    const isStartedThen = createdAt > from + latest && createdAt < until - skew;
    require(world, !isStartedThen, () => `${what} was started while the pipeline was paused`);
  }
}

/** Every instant of an entry has its run, where the pipeline was not paused, and there was time enough to find it. */
function checkComplete(
  plan: Plan,
  world: World,
  { entry, everyMs, offset, since, until, catchUp }: Stood,
  started: ReadonlySet<string>,
): void {
  const quiet = isQuiet(plan);
  if (!quiet && catchUp !== 'all') return;
  const skew = 2 * (world.faults.skewMs ?? 0);
  const margin = 2 * plan.tickMs + SLACK_MS + skew + (quiet ? 0 : troubleMs(plan));
  const last = Math.min(until, world.now) - margin;
  const isPaused = (instant: number) =>
    world.trace.pauses.some(
      ({ from, until: to = Number.POSITIVE_INFINITY }) => instant > from - margin && instant <= to + skew,
    );
  for (let instant = Math.floor(since / everyMs) * everyMs + offset; instant < last; instant += everyMs) {
    if (instant <= since || isPaused(instant)) continue;
    const name = `${entry} ${new Date(instant).toISOString()}`;
    require(world, started.has(name) || started.has(name.replace('.000Z', 'Z')), () => `${name} has no run`);
  }
}

/** How long faults may hold up a pass in all (ms). */
function troubleMs({ faults, order, tickMs }: Plan): number {
  const each = faults.map(([, fault]) => (fault.kind === 'freeze' ? fault.forMs + tickMs : 10_000 + tickMs));
  return each.reduce((sum, ms) => sum + ms, 0) + (order ? order.lateMs + 20 * tickMs : 0);
}

/** One run an event, however often it is handed over; none for our own events; an answer for each that is no good. */
function checkRequests(plan: Plan, world: World, runs: readonly RunRecord[]): void {
  const requests = plan.requests ?? [];
  const idsOf = (kind: PlannedRequest['kind']) =>
    new Set(requests.filter((request) => request.kind === kind).map(eventIdOf));
  const good = idsOf('good').size;
  const started = new Set(runs.map(({ id }) => id)).size;
  require(world, started <= good, () => `${good} events started ${started} runs`);
  const mayRefuse = (plan.orders?.length ?? 0) > 0;
  require(world, mayRefuse || started === good, () => `${good} events started ${started} runs`);
  const rejected = world.trace.told.filter(({ detailType }) => detailType === 'RunRejected');
  const answered = new Set(rejected.map(({ detail }) => (detail as { eventId?: string }).eventId));
  for (const id of idsOf('bad')) require(world, answered.has(id), () => `nobody was told that ${id} is no good`);
  if (!mayRefuse) for (const id of idsOf('good')) require(world, !answered.has(id), () => `${id} was refused`);
  for (const id of idsOf('own')) require(world, !answered.has(id), () => `${id}, which is our own, was answered`);
  const own = requests.filter(({ kind }) => kind === 'own').reduce((sum, { copies }) => sum + copies, 0);
  const dropped = world.requests.counts.get('OwnEventDropped') ?? 0;
  require(world, dropped >= own, () => `${own} events of our own came, ${dropped} were dropped`);
  require(world, world.requests.dead === 0, () => `${world.requests.dead} requests went to the dead letters`);
}
