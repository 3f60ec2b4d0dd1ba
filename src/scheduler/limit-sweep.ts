/** Looks at limits that are due or were rung: runs that were granted something, or that a change of an engine concerns. */
import pMap from 'p-map';
import { DEFINITION_LIMITS } from '#domain/definition.ts';
import {
  dropHolder,
  engineStatus,
  freeSlots,
  type LimitRecord,
  type LimitReport,
  unheardHolders,
  type WaitingRun,
} from '#domain/limit.ts';
import { isRunOver, type RunRecord } from '#domain/run.ts';
import { limitReport } from '#domain/run-limits.ts';
import type { WaitingPlace } from '#ports/index.ts';
import type { PassDeps } from './deps.ts';
import { announceEngine, lookForMachine } from './engines.ts';
import { runLimitPass, withDue } from './limit-pass.ts';
import { lookAtRun } from './look-at-run.ts';
import { type PassOutcome, runPass } from './pass.ts';

/** Changes of others that a note steps over, before it is left to the next look. */
const MAX_TRIES = 5;
const PARALLEL_READS = 10;
const PARALLEL_PASSES = 5;
/** Rows of waiting runs that are read and rung at once. */
const RING_PAGE = 500;
/** Runs that one look passes over itself. */
const PASSES_OF_A_LOOK = 20;

/**
 * Looks at a limit that is due or was rung: at runs that were not heard since they were granted something, and at
 * those that are to be told of a change of its engine.
 * @param tellPipelines brings the conditions of the pipelines that name an engine up to date
 */
export async function workLimit(
  deps: PassDeps,
  name: string,
  tellPipelines: (engineLimit: string) => Promise<void>,
): Promise<void> {
  const before = await deps.limits.readLimit(name);
  if (!before) return;
  await lookForMachine(deps, before);
  const { reports, gone } = await askUnheard(deps, before);
  await forget(deps, name, gone);
  const passed = await runLimitPass(deps, name, { reports });
  const limit = passed?.limit;
  if (!limit?.ringsWaiting && !limit?.tellsPipelines) return;
  // Runs first: they wait for work, pipelines only for the word that there is an engine.
  const isRung = limit.ringsWaiting ? await ringWaiting(deps, limit) : true;
  if (!passed?.hasAnnounced && isSilenceOwed(limit, deps.clock.now())) await announceEngine(deps, limit);
  if (limit.tellsPipelines) await tellPipelines(name);
  await settle(deps, limit, isRung);
}

/** Whether a pass noted that an engine fell silent: it may have died, or not known of its commit, before it said so. */
function isSilenceOwed({ engine, tellsPipelines }: LimitRecord, now: number): boolean {
  return engine !== undefined && tellsPipelines === true && engineStatus(engine, now).reason === 'HeartbeatMissed';
}

/** What runs that were not heard have committed; those that have not taken up their grants are rung again. */
async function askUnheard(deps: PassDeps, limit: LimitRecord) {
  const reports: LimitReport[] = [];
  const gone: { readonly run: string; readonly nonce: string }[] = [];
  const late: string[] = [];
  const strays: Stray[] = [];
  await pMap(
    unheardHolders(limit),
    async ({ run, nonce, pipeline, granted }) => {
      const known = await lookAtRun(deps, run);
      // It holds what it was granted, since executions of it may run, and keeps nobody else from being looked at.
      if (known instanceof Error) return;
      if (known?.nonce !== nonce) {
        gone.push({ run, nonce });
        strays.push({ id: run, nonce, pipeline, rev: Number.MAX_SAFE_INTEGER });
        return;
      }
      const entry = known.limits?.find((one) => one.limit === limit.name);
      // Granted by a row that nobody answers for, it would be granted again as soon as it came back.
      if (!entry?.waiting) strays.push(known);
      if (entry && entry.taken >= granted) reports.push(limitReport(known, entry));
      else late.push(run);
    },
    { concurrency: PARALLEL_READS },
  );
  for (const run of strays) await removeStrayRows(deps, limit.name, run);
  await serve(deps, late, limit.name);
  return { reports, gone };
}

/** A run whose rows are to go, up to a revision of it. */
type Stray = Pick<RunRecord, 'id' | 'nonce' | 'pipeline' | 'rev'>;

/**
 * A pass that slept may put the row of a run that has long gone on, or was deleted. The slot that it is granted, the
 * run gives back, or it is taken back from one that is no more.
 */
async function removeStrayRows(deps: PassDeps, limit: string, run: Stray): Promise<void> {
  let after: WaitingRun | undefined;
  do {
    const page: readonly WaitingRun[] = await deps.limits.listWaiting(limit, RING_PAGE, after ?? beforeAll(run));
    for (const row of page.filter((one) => one.run === run.id && one.nonce === run.nonce))
      await deps.limits.removeWaiting({ ...row, rev: run.rev });
    after = page.length === RING_PAGE ? page.at(-1) : undefined;
  } while (after?.pipeline === run.pipeline);
}

/** The place before all rows of a run's pipeline. */
function beforeAll({ pipeline }: Stray): WaitingPlace {
  return { pipeline, priority: DEFINITION_LIMITS.priority.max, since: 0, run: '' };
}

/** Takes back what runs hold that are no more: nothing of them can start. */
async function forget(deps: PassDeps, name: string, gone: readonly { run: string; nonce: string }[]): Promise<void> {
  if (gone.length === 0) return;
  const before = await deps.limits.readLimit(name);
  if (!before) return;
  const limit = gone.reduce(dropHolder, before);
  await deps.limits.commitLimit({ ...limit, rev: before.rev + 1 }, before.rev);
}

/**
 * Rings every run that waits. One round is enough where each of them still has to be granted a slot; where none is
 * needed, they are rung until their rows are gone, since a ring may not be heard.
 * @returns whether no further round is needed
 */
async function ringWaiting(deps: PassDeps, limit: LimitRecord): Promise<boolean> {
  let isAnyLeft = false;
  let page = await deps.limits.listWaiting(limit.name, RING_PAGE);
  while (page.length > 0) {
    const over = await serve(
      deps,
      page.map(({ run }) => run),
      limit.name,
    );
    // A pass that slept may put the row of a run that is over, and nobody else would take it away.
    for (const row of page) if (over.has(row.run)) await deps.limits.removeWaiting(row);
    isAnyLeft ||= page.some(({ run }) => !over.has(run));
    const last = page.at(-1);
    page = page.length < RING_PAGE || !last ? [] : await deps.limits.listWaiting(limit.name, RING_PAGE, last);
  }
  const needsNoGrant = !Number.isFinite(freeSlots(limit, deps.clock.now()));
  return !(isAnyLeft && needsNoGrant);
}

/** Notes that a change was told, unless there is another one by now. That runs were granted slots meanwhile is none. */
async function settle(deps: PassDeps, told: LimitRecord, isRung: boolean): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const limit = await deps.limits.readLimit(told.name);
    if (!limit || isOther(limit, told)) return;
    const { ringsWaiting: _rung, tellsPipelines: _told, ...rest } = limit;
    const next = withDue({ ...rest, ...(!isRung && { ringsWaiting: true }) }, deps.clock.now(), deps.options.tickMs);
    if ((await deps.limits.commitLimit({ ...next, rev: limit.rev + 1 }, limit.rev)) === 'committed') return;
  }
}

function isOther(limit: LimitRecord, told: LimitRecord): boolean {
  const { engine, toldStatus, slots } = limit;
  return engine?.updatedAt !== told.engine?.updatedAt || toldStatus !== told.toldStatus || slots !== told.slots;
}

/**
 * Lets runs see what has changed. The first of them are passed over here and now, the others are rung: should every ring
 * be lost, each look at the limit still serves some.
 * @returns those of them that are over, or are no more
 */
async function serve(deps: PassDeps, runs: readonly string[], limit: string): Promise<ReadonlySet<string>> {
  const over = new Set<string>();
  const rest = runs.slice(PASSES_OF_A_LOOK);
  if (rest.length > 0) await deps.inbox.ringAll(rest.map((id) => ({ kind: 'run', id })));
  await pMap(
    runs.slice(0, PASSES_OF_A_LOOK),
    async (id) => {
      const outcome = await passOrRing(deps, id, limit);
      if (outcome.kind === 'missing' || (outcome.kind === 'done' && isRunOver(outcome.run.state))) over.add(id);
    },
    { concurrency: PARALLEL_PASSES },
  );
  return over;
}

/** A pass that fails is left to a message of its own, which says why and comes again: the others are served all the same. */
async function passOrRing(
  deps: PassDeps,
  id: string,
  limit: string,
): Promise<PassOutcome | { readonly kind: 'failed' }> {
  try {
    return await runPass(deps, id, { limits: [limit] });
  } catch {
    await deps.inbox.ring(id);
    return { kind: 'failed' };
  }
}
