/**
 * The head of a pipeline: what may change about it. One aggregate with a due time, changed under a condition on its
 * version alone.
 *
 * H1 A commit that leaves something undone (a condition to be checked, a change to be published) leaves the head due.
 * H2 An instant is settled only after its run was put; what a crash leaves in between is put again under the same id.
 * H3 A head that is being deleted starts nothing; it goes last.
 */
import type { Backfill } from './backfill.ts';
import type { ReadyCondition } from './conditions.ts';
import type { ScheduleCursor } from './schedule-cursor.ts';

/** Number of the layout of a stored head. */
export const HEAD_SCHEMA_VERSION = 1;

/** Who ordered something, and when (ms since the epoch). */
export interface HeadOrder {
  readonly at: number;
  readonly by?: string;
}

/** A start that a schedule made and that the pipeline refused: the last one of its entry. */
export interface RejectedStart {
  readonly entry: string;
  /** The instant whose run it would have been (ms since the epoch). */
  readonly instant: number;
  readonly code: string;
  readonly message: string;
}

/** The order to delete a pipeline. */
export interface HeadDeletion extends HeadOrder {
  /** Its active runs are stopped and removed, too. */
  readonly isForced?: true;
  /** How far its runs were looked through, the newest first, and whether one of them was active. */
  readonly sweep?: { readonly after: { readonly createdAt: number; readonly id: string }; readonly found?: true };
}

/** A pipeline's head. Immutable. */
export interface PipelineHead {
  readonly name: string;
  /** Random per creation, so that a pipeline made anew under an old name is another one. */
  readonly incarnation: string;
  /** Revision that new runs take. */
  readonly revision: string;
  /** Counts changes of this head, from 1. */
  readonly version: number;
  readonly createdAt: number;
  /** When it was put, paused or resumed last (ms since the epoch). */
  readonly updatedAt: number;
  /** Whether its runs can go on; absent until that was found out. */
  readonly ready?: ReadyCondition;
  /** A change has still to be published. */
  readonly tells?: true;
  /** Engines beside which a row may stand that names this pipeline. */
  readonly engines?: readonly string[];
  /** Since when its schedule and events start nothing. */
  readonly paused?: HeadOrder;
  /** How far the entries of its schedule have come, by entry id. */
  readonly cursors?: readonly (readonly [string, ScheduleCursor])[];
  readonly rejected?: readonly RejectedStart[];
  readonly backfills?: readonly Backfill[];
  readonly deleting?: HeadDeletion;
  /** When it has to be looked at (ms since the epoch): may be early, never late. */
  readonly dueAt?: number;
}
