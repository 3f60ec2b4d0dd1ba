/**
 * Plays the simulation in a tree that may hold a mutation, a little of everything first, and ends at the first world that
 * breaks a promise: prints which, as JSON, and ends with 1. `node play.ts whole limits`: these kinds before the others.
 */
import fc from 'fast-check';
import type { PlanKind } from '../simulation/campaign.ts';
import { crashesToText, playPortion, portionsOf } from '../simulation/exhaustive.ts';
import { SMALL_SCENARIOS } from '../simulation/exhaustive-scenarios.ts';
import type { Plan } from '../simulation/plan.ts';
import { playPlan } from '../simulation/play-plan.ts';
import { PLANS } from '../simulation/random-plans.ts';

/** Worlds of each kind in each round; the crashes of the small scenarios come after the first. */
const ROUNDS = [20, 100];

const preferred = process.argv.slice(2) as PlanKind[];
const kinds = [...new Set([...preferred, ...(Object.keys(PLANS) as PlanKind[])])];
const found = await play();
if (found) {
  process.stdout.write(`${JSON.stringify(found)}\n`);
  process.exitCode = 1;
}

interface Found {
  readonly by: string;
  readonly message: string;
}

async function play(): Promise<Found | undefined> {
  for (const [round, worlds] of ROUNDS.entries()) {
    for (const kind of kinds) {
      const broken = await playWorlds(kind, round, worlds);
      if (broken) return broken;
    }
    const broken = round === 0 ? await playCrashes() : undefined;
    if (broken) return broken;
  }
  return undefined;
}

async function playWorlds(kind: PlanKind, seed: number, worlds: number): Promise<Found | undefined> {
  for (const plan of fc.sample(PLANS[kind] as fc.Arbitrary<Plan>, { seed, numRuns: worlds })) {
    try {
      await playPlan(plan);
    } catch (error) {
      return { by: `worlds of kind ${kind}`, message: messageOf(error) };
    }
  }
  return undefined;
}

async function playCrashes(): Promise<Found | undefined> {
  for (const scenario of SMALL_SCENARIOS) {
    try {
      for (const portion of await portionsOf(scenario, false)) {
        const { failure } = await playPortion(portion);
        if (!failure) continue;
        const { mode, crashes, message } = failure;
        return { by: `${scenario.name}, ${mode}, ${crashesToText(crashes)}`, message };
      }
    } catch (error) {
      return { by: `${scenario.name} without a crash`, message: messageOf(error) };
    }
  }
  return undefined;
}

/** The promise that was broken, without the schedule that broke it. */
function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
