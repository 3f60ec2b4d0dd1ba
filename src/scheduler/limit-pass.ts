/**
 * The pass over a limit: takes note of what runs gave back, grants what is free to those next in line, and rings them.
 * Every commit is conditional on the revision that was read. A death at any await leaves the limit due, or a slot held
 * until the run that gave it back says so again; nothing is ever granted twice.
 */
import pMap from 'p-map';
import {
  applyReports,
  dropHolder,
  isOpen,
  type LimitRecord,
  type LimitReport,
  limitDueAt,
  newLimit,
  noteStatus,
  unheardHolders,
} from '#domain/limit.ts';
import type { PassDeps } from './deps.ts';
import { announceEngine, lookForMachine } from './engines.ts';
import { grantFreeSlots } from './limit-grants.ts';

/** Readings of one pass before it gives up: others keep committing, and each of them serves the runs in line. */
const MAX_READINGS = 20;
const PARALLEL_READS = 10;
/** Rows of waiting runs that are read and rung at once. */
const RING_PAGE = 500;

/** What brings a pass over a limit. */
export interface LimitInput {
  /** What runs tell. */
  readonly reports?: readonly LimitReport[];
  /** Run that asks: it sees by itself what it is granted, and need not be rung. */
  readonly self?: string;
  /** Slots of a limit that nobody has made yet. */
  readonly slots?: number | undefined;
}

/** Others keep changing a limit. */
export class LimitBusyError extends Error {
  constructor(name: string) {
    super(`others keep changing limit ${name}`);
    this.name = 'LimitBusyError';
  }
}

/**
 * Runs a pass over a limit; gives it as it is afterwards, or nothing where there is no such limit.
 * @throws LimitBusyError, and whatever a port throws: who asked stays due
 */
export async function runLimitPass(
  deps: PassDeps,
  name: string,
  input: LimitInput = {},
): Promise<LimitRecord | undefined> {
  for (let reading = 0; reading < MAX_READINGS; reading++) {
    const now = deps.clock.now();
    const before =
      (await deps.limits.readLimit(name)) ?? (input.slots === undefined ? undefined : newLimit(name, input.slots));
    if (!before) return undefined;
    const told = noteStatus(applyReports(before, input.reports ?? []), now);
    const { limit, runs } = await grantFreeSlots(deps.limits, told, now);
    const next = withDue(limit, now, deps.options.tickMs);
    if (sameLimit(before, next)) return before;
    const committed = { ...next, rev: before.rev + 1 };
    if ((await deps.limits.commitLimit(committed, before.rev)) === 'conflict') continue;
    if (committed.toldStatus !== before.toldStatus) await announceEngine(deps, committed);
    const rung = [...runs].filter((run) => run !== input.self);
    if (rung.length > 0) await deps.inbox.ringAll(rung.map((id) => ({ kind: 'run', id })));
    return committed;
  }
  throw new LimitBusyError(name);
}

function withDue(limit: LimitRecord, now: number, tickMs: number): LimitRecord {
  const { dueAt: _before, ...rest } = limit;
  const dueAt = limitDueAt(limit, now, tickMs);
  return dueAt === undefined ? rest : { ...rest, dueAt };
}

function sameLimit(before: LimitRecord, next: LimitRecord): boolean {
  return before.rev > 0 && JSON.stringify(before) === JSON.stringify({ ...next, rev: before.rev });
}

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
  const limit = await runLimitPass(deps, name, { reports });
  if (!limit?.ringsWaiting && !limit?.tellsPipelines) return;
  if (limit.tellsPipelines) await tellPipelines(name);
  const isRung = limit.ringsWaiting ? await ringWaiting(deps, limit) : true;
  await settle(deps, limit, isRung);
}

/** What runs that were not heard have committed; those that have not taken up their grants are rung again. */
async function askUnheard(deps: PassDeps, limit: LimitRecord) {
  const reports: LimitReport[] = [];
  const gone: { readonly run: string; readonly nonce: string }[] = [];
  const late: string[] = [];
  await pMap(
    unheardHolders(limit),
    async ({ run, nonce, pipeline, granted }) => {
      const known = await deps.runs.readRun(run);
      if (known?.nonce !== nonce) {
        gone.push({ run, nonce });
        return;
      }
      const entry = known.limits?.find((one) => one.limit === limit.name);
      if (entry && entry.taken >= granted) {
        reports.push({ run, nonce, pipeline, taken: entry.taken, returned: entry.returned });
      } else late.push(run);
    },
    { concurrency: PARALLEL_READS },
  );
  if (late.length > 0) await deps.inbox.ringAll(late.map((id) => ({ kind: 'run', id })));
  return { reports, gone };
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
    isAnyLeft = true;
    await deps.inbox.ringAll(page.map(({ run }) => ({ kind: 'run', id: run })));
    const last = page.at(-1);
    page = page.length < RING_PAGE || !last ? [] : await deps.limits.listWaiting(limit.name, RING_PAGE, last);
  }
  const needsNoGrant = limit.slots === undefined && isOpen(limit, deps.clock.now());
  return !(isAnyLeft && needsNoGrant);
}

/** Notes that a change was told, unless there is another one by now. */
async function settle(deps: PassDeps, limit: LimitRecord, isRung: boolean): Promise<void> {
  const { ringsWaiting: _rung, tellsPipelines: _told, ...rest } = limit;
  const next = withDue({ ...rest, ...(!isRung && { ringsWaiting: true }) }, deps.clock.now(), deps.options.tickMs);
  await deps.limits.commitLimit({ ...next, rev: limit.rev + 1 }, limit.rev);
}
