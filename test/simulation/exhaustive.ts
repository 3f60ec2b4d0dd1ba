/**
 * The exhaustive part of the simulation: of each small scenario, every crash, and every two. The places of the second
 * are those of the world in which the first has happened, so that what recovers is crashed too.
 */
import { SMALL_SCENARIOS } from './exhaustive-scenarios.ts';
import { type Crash, MODES, type Mode, type Played, type SmallScenario } from './exhaustive-worlds.ts';

/** Some crashes of a scenario: one, and with `withPairs` that one with each that may follow it. */
export interface Portion {
  readonly scenario: string;
  readonly mode: Mode;
  readonly first: Crash;
  readonly withPairs: boolean;
}

/** What a portion came to. */
export interface PortionOutcome {
  readonly singles: number;
  readonly pairs: number;
  /** The most ticks that a world took. */
  readonly ticks: number;
  readonly ms: number;
  readonly failure?: CrashFailure;
}

/** Crashes after which a scenario does not come to what it must. */
export interface CrashFailure {
  readonly scenario: string;
  readonly mode: Mode;
  readonly crashes: readonly Crash[];
  readonly message: string;
}

const WHEN = ['before', 'after'] as const;

/**
 * The small scenario of a name.
 * @throws where there is none
 */
export function smallScenario(name: string): SmallScenario {
  const scenario = SMALL_SCENARIOS.find((one) => one.name === name);
  if (!scenario) throw new Error(`no small scenario is called ${JSON.stringify(name)}`);
  return scenario;
}

/** All portions of a scenario, of each way to bring it to its end. Its pairs come with events, and with ticks alone. */
export async function portionsOf(scenario: SmallScenario, withPairs: boolean): Promise<Portion[]> {
  const portions: Portion[] = [];
  for (const mode of MODES) {
    const { places } = await scenario.play([], mode);
    for (const first of crashesFrom(0, places)) {
      portions.push({ scenario: scenario.name, mode, first, withPairs: withPairs && mode !== 'events, then ticks' });
    }
  }
  return portions;
}

function* crashesFrom(least: number, places: number): Generator<Crash> {
  for (let at = least; at < places; at++) for (const when of WHEN) yield { at, when };
}

/** Plays a portion, up to its first failure. */
export async function playPortion({ scenario: name, mode, first, withPairs }: Portion): Promise<PortionOutcome> {
  const scenario = smallScenario(name);
  const began = performance.now();
  const counts = { singles: 0, pairs: 0, ticks: 0 };
  let places = 0;
  const play = async (crashes: readonly Crash[], kind: 'singles' | 'pairs') => {
    counts[kind] += 1;
    return playCrashes(scenario, mode, crashes, (played) => {
      counts.ticks = Math.max(counts.ticks, played.ticks);
      if (kind === 'singles') places = played.places;
    });
  };
  let failure = await play([first], 'singles');
  if (withPairs && !failure) {
    for (const second of crashesFrom(first.at + 1, places)) failure ??= await play([first, second], 'pairs');
  }
  return { ...counts, ms: performance.now() - began, ...(failure && { failure }) };
}

/** Plays a scenario with some crashes; gives what broke. */
export async function playCrashes(
  scenario: SmallScenario,
  mode: Mode,
  crashes: readonly Crash[],
  onPlayed: (played: Played) => void = () => {},
): Promise<CrashFailure | undefined> {
  try {
    onPlayed(await scenario.play(crashes, mode));
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { scenario: scenario.name, mode, crashes, message };
  }
}

/** Crashes as the command line has them: `3-after,17-before`. */
export function crashesToText(crashes: readonly Crash[]): string {
  return crashes.map(({ at, when }) => `${at}-${when}`).join(',');
}

/**
 * Reads crashes from the command line.
 * @throws where the text is none
 */
export function crashesFromText(text: string): Crash[] {
  return text.split(',').map((part) => {
    const [, at, when] = /^(\d+)-(before|after)$/.exec(part) ?? [];
    if (at === undefined) throw new Error(`${JSON.stringify(part)} is no crash; one is 3-after`);
    return { at: Number(at), when: when as Crash['when'] };
  });
}
