/** Plays many random worlds of one kind in a row, and shrinks the first that fails. */
import fc from 'fast-check';
import type { Plan } from './plan.ts';
import { playPlan } from './play-plan.ts';
import { PLANS } from './random-plans.ts';

/** Name of a kind of plans. */
export type PlanKind = keyof typeof PLANS;

/** Some worlds to be played: all that they are follows from kind, seed and path. */
export interface Campaign {
  readonly kind: PlanKind;
  readonly seed: number;
  readonly runs: number;
  /** Goes straight to one world: what a failure printed. */
  readonly path?: string;
}

/** What a campaign came to. */
export interface CampaignOutcome {
  readonly runs: number;
  readonly operations: number;
  /** Attempts that were started. */
  readonly starts: number;
  /** Operations that went wrong. */
  readonly faults: number;
  readonly failure?: CampaignFailure;
}

/** The smallest failing world that was found. */
export interface CampaignFailure {
  readonly kind: PlanKind;
  readonly seed: number;
  readonly path: string;
  readonly plan: Plan;
  readonly message: string;
}

/** Plays a campaign. */
export async function playCampaign({ kind, seed, runs, path }: Campaign): Promise<CampaignOutcome> {
  const counts = { operations: 0, starts: 0, faults: 0 };
  const property = fc.asyncProperty(PLANS[kind], async (plan) => {
    const { operations, starts } = (await playPlan(plan)).trace;
    counts.operations += operations.length;
    counts.starts += starts.length;
    for (const [at] of plan.faults) if (at < operations.length) counts.faults += 1;
  });
  const replay = path === undefined ? {} : { path, endOnFailure: true };
  const details = await fc.check(property, { seed, numRuns: runs, ...replay });
  if (!details.failed) return { runs, ...counts };
  const [plan] = details.counterexample ?? [];
  if (!plan) throw new Error('fast-check found a failure and no counterexample');
  const { errorInstance } = details;
  const message = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  const failure = { kind, seed: details.seed, path: details.counterexamplePath ?? '', plan, message };
  return { runs: details.numRuns, ...counts, failure };
}
