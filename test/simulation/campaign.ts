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
  readonly ms: number;
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

/**
 * Plays a campaign.
 * @param onFailure told at the first world that fails, before the smallest that does is looked for
 */
export async function playCampaign(
  { kind, seed, runs, path }: Campaign,
  onFailure: (message: string) => void = () => {},
): Promise<CampaignOutcome> {
  const began = performance.now();
  const counts = { operations: 0, starts: 0, faults: 0 };
  let hasFailed = false;
  const property = fc.asyncProperty(PLANS[kind] as fc.Arbitrary<Plan>, async (plan) => {
    const { operations, starts } = (
      await playPlan(plan).catch((error: unknown) => {
        if (!hasFailed) onFailure(messageOf(error));
        hasFailed = true;
        throw error;
      })
    ).trace;
    counts.operations += operations.length;
    counts.starts += starts.length;
    for (const [at] of plan.faults) if (at < operations.length) counts.faults += 1;
  });
  const replay = path === undefined ? {} : { path, endOnFailure: true };
  const details = await fc.check(property, { seed, numRuns: runs, ...replay });
  const ms = performance.now() - began;
  if (!details.failed) return { runs, ...counts, ms };
  const [plan] = details.counterexample ?? [];
  if (!plan) throw new Error('fast-check found a failure and no counterexample');
  const message = messageOf(details.errorInstance);
  const failure = { kind, seed: details.seed, path: details.counterexamplePath ?? '', plan, message };
  return { runs: details.numRuns, ...counts, ms, failure };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
