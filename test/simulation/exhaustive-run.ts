/** Plays every crash and every two crashes of the small scenarios on threads, and tells how many there were. */
import { Progress } from './campaign-progress.ts';
import { playOnThreads } from './campaign-threads.ts';
import {
  type CrashFailure,
  crashesToText,
  type Portion,
  playCrashes,
  portionsOf,
  smallScenario,
} from './exhaustive.ts';
import { SMALL_SCENARIOS } from './exhaustive-scenarios.ts';
import { Totals, tableOf } from './exhaustive-table.ts';
import type { Crash, Mode } from './exhaustive-worlds.ts';

/** What is to be played. */
export interface ExhaustiveRequest {
  /** @default all */
  readonly scenario: string | undefined;
  /** @default all */
  readonly mode: Mode | undefined;
  /** These alone; of a scenario and a mode. */
  readonly crashes: readonly Crash[] | undefined;
  readonly threads: number;
  /** Whether the result is told as JSON. */
  readonly json: boolean;
}

/**
 * Plays what is asked for.
 * @returns the exit code: 1 where crashes break a promise
 */
export async function runExhaustively(request: ExhaustiveRequest): Promise<number> {
  const { scenario, mode, crashes, threads, json } = request;
  if (crashes) {
    const failure = await playCrashes(smallScenario(scenario ?? ''), mode ?? 'events', crashes);
    return failure ? tellFailure(failure, json) : say('these crashes break nothing');
  }
  const scenarios = scenario === undefined ? SMALL_SCENARIOS : [smallScenario(scenario)];
  const portions: Portion[] = [];
  for (const one of scenarios) portions.push(...(await portionsOf(one, true)));
  const chosen = portions.filter((portion) => mode === undefined || portion.mode === mode);
  const totals = new Totals();
  const progress = new Progress('first crashes', chosen.length, 'each with all that may follow it');
  let failure: CrashFailure | undefined;
  const threadCount = await playOnThreads(chosen, threads, {
    onPlayed(portion, outcome) {
      totals.add(portion, outcome);
      failure ??= outcome.failure;
      progress.done(1);
    },
  });
  const seconds = progress.end();
  if (failure) return tellFailure(failure, json);
  const rows = totals.rows();
  if (json) return say(JSON.stringify({ failed: false, threads: threadCount, seconds, scenarios: rows }));
  return say(`${tableOf(rows)}\n${Math.round(seconds)} s on ${threadCount} threads, none failed`);
}

function say(line: string): number {
  process.stdout.write(`${line}\n`);
  return 0;
}

function tellFailure(failure: CrashFailure, isJson: boolean): number {
  const { scenario, mode, crashes, message } = failure;
  const options = `--scenario ${JSON.stringify(scenario)} --mode ${JSON.stringify(mode)}`;
  const replay = `npm run simulate -- --exhaustive ${options} --crashes ${crashesToText(crashes)}`;
  if (isJson) say(JSON.stringify({ failed: true, ...failure, replay }));
  else say(`${scenario}, ${mode}, ${crashesToText(crashes)}: ${message}\n\nplay it again: ${replay}`);
  return 1;
}
