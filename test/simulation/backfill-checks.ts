/** Whether the runs of backfills are those that were asked for: each instant once, in order, so many at once. */
import type { Backfill } from '#domain/backfill.ts';
import { toIsoTime } from '#domain/iso-time.ts';
import { type PackedHead, unpackHead } from '#domain/pipeline-head-codec.ts';
import { isRunOver, type RunRecord } from '#domain/run.ts';
import { require } from './invariant-error.ts';
import type { Plan } from './plan.ts';
import { pipelineName } from './plan-definition.ts';
import { playedBy } from './plan-scenario.ts';
import { checkNotPaused, everyMsOf } from './schedule-checks.ts';
import type { UserAct } from './user-acts.ts';
import type { World } from './world.ts';

type Asked = UserAct & { readonly kind: 'backfill' };

/** After every operation: no more runs of a backfill are active than it allows. */
export function checkBackfillsNow(world: World): void {
  for (const packed of world.heads.values()) {
    for (const { id, maxActiveRuns } of backfillsOf(packed)) {
      const active = world.runs.all().filter(({ trigger, state }) => trigger.backfill === id && !isRunOver(state));
      require(world, active.length <= maxActiveRuns, () =>
        `${active.length} runs of a backfill are active, ${maxActiveRuns} may be`);
    }
  }
}

const known = new WeakMap<PackedHead, readonly Backfill[]>();

/** The backfills of a stored head, which is read once. */
function backfillsOf(packed: PackedHead): readonly Backfill[] {
  const before = known.get(packed);
  if (before) return before;
  const { backfills = [] } = unpackHead(packed);
  known.set(packed, backfills);
  return backfills;
}

/** At the end. */
export function checkBackfills(plan: Plan, world: World): void {
  if (!plan.backfills) return;
  const groups = Map.groupBy(
    world.runs.everAll().filter(({ trigger }) => trigger.type === 'backfill'),
    ({ trigger }) => trigger.backfill,
  );
  for (const runs of groups.values()) checkGroup(plan, world, runs);
  const mayBeDeleted = plan.orders?.some(({ kind }) => kind === 'deletePipeline') === true;
  for (const { act, answer } of world.users.told) {
    if (act.kind !== 'backfill' || mayBeDeleted || (answer !== 'accepted' && answer !== 'already')) continue;
    const isWhole = [...groups.values()].some((runs) => isCarriedOut(plan, world, act, runs));
    require(world, isWhole, () => `a backfill was accepted, and not carried out: ${JSON.stringify(act)}`);
  }
  for (const head of world.heads.values()) {
    require(world, backfillsOf(head).length === 0, () => 'a backfill is still under way at the end');
  }
}

/** All runs of one backfill: of one revision, each instant once, in their order. */
function checkGroup(plan: Plan, world: World, runs: readonly RunRecord[]): void {
  const [first] = runs as [RunRecord, ...RunRecord[]];
  const names = runs.map(nameOf);
  // Who asks again for a backfill one of whose runs is deleted gets that one anew.
  const isRepeated = (run: RunRecord) =>
    runs.some((other) => other !== run && nameOf(other) === nameOf(run) && !(run.deleted && isAskedAfter(world, run)));
  const isOnce = runs.filter(isRepeated).length <= new Set(runs.filter(isRepeated).map(nameOf)).size;
  require(world, isOnce, () => `an instant has two runs: ${names.join(', ')}`);
  require(world, runs.every(({ revision }) => revision === first.revision), () => 'a backfill has two revisions');
  for (const run of runs) checkNotPaused(world, run, `run ${run.id} of a backfill`);
  const asked = world.users.told.flatMap(({ act }) => (act.kind === 'backfill' ? [act] : []));
  const isAsked = asked.some((act) => {
    const wanted = instantsOf(plan, world, act, first);
    return isInOrder(runs, act) && names.every((name) => wanted.has(name));
  });
  // Who asked may have died after the commit, and been refused since.
  require(world, isAsked, () => `nobody asked for the backfill of ${names.join(', ')}`);
}

function isAskedAfter({ users, faults }: World, { createdAt }: RunRecord): boolean {
  return users.told.some(({ act, at }) => act.kind === 'backfill' && at + 2 * (faults.skewMs ?? 0) > createdAt);
}

/** Of those that were deleted, nobody knows when they were made. */
function isInOrder(runs: readonly RunRecord[], { direction }: Asked): boolean {
  if (runs.some(({ deleted }) => deleted)) return true;
  const times = runs.map(({ trigger }) => Date.parse(trigger.instant ?? ''));
  return times.every(
    (time, at) => at === 0 || (direction === 'forward' ? time >= (times[at - 1] ?? 0) : time <= (times[at - 1] ?? 0)),
  );
}

function isCarriedOut(plan: Plan, world: World, act: Asked, runs: readonly RunRecord[]): boolean {
  const [first] = runs as [RunRecord, ...RunRecord[]];
  const wanted = instantsOf(plan, world, act, first);
  const names = new Set(runs.map(nameOf));
  return isInOrder(runs, act) && wanted.size === names.size && [...wanted].every((name) => names.has(name));
}

function nameOf({ trigger }: RunRecord): string {
  return `${trigger.entry} ${trigger.instant}`;
}

/** The instants of a range, by the schedule of the revision that a run of it plays; a rate counts from when its entry came. */
function instantsOf(plan: Plan, world: World, { from, to }: Asked, { revision }: RunRecord): ReadonlySet<string> {
  const pipeline = pipelineName(undefined);
  const head = world.trace.heads.find((one) => one.name === pipeline && one.revision === revision);
  const { schedule = [] } = playedBy(plan, { pipeline, revision, tags: [], trigger: { type: 'api' } });
  const wanted = new Set<string>();
  for (const { id = '', cron, rate } of schedule) {
    const everyMs = everyMsOf({ cron, rate });
    const offset = cron === undefined ? (head?.cursors.get(id) ?? head?.at ?? 0) % everyMs : 0;
    for (let instant = Math.ceil((from - offset) / everyMs) * everyMs + offset; instant <= to; instant += everyMs) {
      wanted.add(`${id} ${toIsoTime(instant)}`);
    }
  }
  return wanted;
}
