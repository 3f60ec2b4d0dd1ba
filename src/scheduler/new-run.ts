/** The record of a run that is about to be made, and the making of it. */
import type { Beginning } from '#domain/beginning.ts';
import { floorToTick } from '#domain/due.ts';
import type { CompiledPipeline } from '#domain/graph.ts';
import { type ParentAttempt, RUN_SCHEMA_VERSION, type RunRecord, type RunTrigger } from '#domain/run.ts';
import { toHeader } from './announce.ts';
import type { PassDeps } from './deps.ts';

/** Key of the stored value that is a run's input. */
export const INPUT_KEY = 'input';

/** What a new run is made from. */
export interface NewRun {
  readonly id: string;
  readonly pipeline: CompiledPipeline;
  /** Tells a repeated request from another one. */
  readonly inputHash: string;
  readonly trigger: RunTrigger;
  readonly tags?: RunRecord['tags'] | undefined;
  /** Makes the run the child of an attempt, whose repeated start finds it. */
  readonly child?: { readonly parent: ParentAttempt; readonly depth: number } | undefined;
  /** How many runs led to this one, by events. @default 0 */
  readonly depth?: number | undefined;
  /** @default nothing is decided yet */
  readonly beginning?: Pick<Beginning, 'nodes' | 'maps' | 'branches' | 'marks'> | undefined;
}

/**
 * The record of a new run, under a new nonce.
 * @param now when it is made (ms since the epoch)
 */
export function toNewRun(deps: PassDeps, what: NewRun, now: number): RunRecord {
  const { pipeline, beginning } = what;
  const { retainDays } = pipeline.definition;
  return {
    schemaVersion: RUN_SCHEMA_VERSION,
    id: what.id,
    pipeline: pipeline.name,
    revision: pipeline.revision,
    nonce: deps.ids.nonce(),
    secret: deps.ids.secret(),
    rev: 1,
    state: 'QUEUED',
    reason: 'Starting',
    since: now,
    createdAt: now,
    trigger: what.trigger,
    ...(what.depth !== undefined && what.depth > 0 && { depth: what.depth }),
    ...what.child,
    ...(retainDays !== undefined && { retainDays }),
    tags: what.tags ?? [],
    inputHash: what.inputHash,
    nodes: beginning?.nodes ?? 'p'.repeat(pipeline.nodes.length),
    ...(beginning?.maps && { maps: beginning.maps }),
    ...(beginning?.branches && { branches: beginning.branches }),
    ...(beginning?.marks && { marks: beginning.marks }),
    machines: [],
    flights: [],
    decisions: [],
    announced: { rev: 0, state: 'QUEUED' },
    // Its first pass leaves that as it is: to move a run in the index costs as much as two commits of it.
    dueAt: floorToTick(now + deps.options.tickMs, deps.options),
  };
}

/** What became of a run that was to be made. `replayed`: the run that the first such request made. */
export interface PlacedRun {
  readonly kind: 'started' | 'replayed' | 'conflict';
  readonly run: RunRecord;
}

/** Makes a run whose values are stored, unless the same request did so before; then its line in the list, and a ring. */
export async function placeRun(deps: PassDeps, run: RunRecord): Promise<PlacedRun> {
  const created = await deps.runs.createRun(run);
  if (!created.created && created.run.nonce !== run.nonce) return foundBefore(deps, created.run, run.inputHash);
  await deps.runs.putHeader(toHeader(run));
  await deps.inbox.ring(run.id);
  return { kind: 'started', run };
}

/** A repeated request rings too: the one before it may have died before it did. */
export async function foundBefore(deps: PassDeps, known: RunRecord, inputHash: string): Promise<PlacedRun> {
  if (known.deleted) return { kind: 'replayed', run: known };
  if (known.inputHash !== inputHash) return { kind: 'conflict', run: known };
  if (known.state === 'QUEUED') await deps.inbox.ring(known.id);
  return { kind: 'replayed', run: known };
}
