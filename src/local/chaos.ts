import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { ChaosSpec } from '#local/chaos-spec.ts';
import type { DeliveryChaos, DeliveryFate } from '#local/event-bus.ts';

/** How much trouble was made. */
export type ChaosCounters = {
  /** Deliveries of events that were lost. */
  dropped: number;
  /** Deliveries of events that were made several times. */
  repeated: number;
  /** Deliveries of events that were made late. */
  delayed: number;
  /** Invocations that died, by function. */
  readonly killed: Map<string, number>;
  /** Calls that were throttled, by API. */
  readonly throttled: Map<string, number>;
};

/** A planned death: when it comes, in milliseconds from the start of the invocation, and whom to tell that it came. */
export type PlannedKill = { readonly afterMs: number; happened(): void };

/** Trouble on purpose, by a seeded generator: what would happen on AWS now and then happens here all the time. */
export type Chaos = DeliveryChaos & {
  readonly counters: ChaosCounters;
  /** Whether and when the invocation that begins now dies. */
  planKill(functionName: string): PlannedKill | undefined;
  /** Told how long invocations take, so that deaths fall inside them. */
  took(functionName: string, ms: number): void;
  /** Whether this call of an API is throttled. */
  throttles(api: string): boolean;
};

const mostCopies = 5;
/** How long an invocation is taken to last before any has ended. */
const firstGuessMs = 50;
/** A death may come after the usual end of an invocation, so that late awaits are hit too. */
const killWindow = 1.5;

/**
 * Makes chaos of a specification. Each kind of trouble draws from a stream of its own, so that one kind's choices do
 * not depend on how often another was asked.
 * @param seed the same seed makes the same choices for the same questions
 */
export function createChaos(spec: ChaosSpec, seed: number): Chaos {
  const drop = stream(seed, 0);
  const repeat = stream(seed, 1);
  const delay = stream(seed, 2);
  const throttle = stream(seed, 3);
  const kills = new Map([...spec.kill.keys()].sort().map((name, index) => [name, stream(seed, 4 + index)]));
  const durations = new Map<string, RecentDurations>();
  const counters: ChaosCounters = { dropped: 0, repeated: 0, delayed: 0, killed: new Map(), throttled: new Map() };
  return {
    counters,
    deliver(): DeliveryFate {
      const isDropped = chosen(drop, spec.dropEvents);
      const copies = chosen(repeat, spec.repeatEvents) ? uniformInt(repeat, 2, mostCopies) : 1;
      const delayMs = spec.delayEventsMs === 0 ? 0 : uniformFloat64(delay) * spec.delayEventsMs;
      if (isDropped) {
        counters.dropped += 1;
        return 'drop';
      }
      if (copies > 1) counters.repeated += 1;
      if (delayMs === 0) return copies;
      counters.delayed += 1;
      return { delayMs, copies };
    },
    planKill(functionName) {
      const generator = kills.get(functionName);
      if (generator === undefined || !chosen(generator, spec.kill.get(functionName) ?? 0)) return undefined;
      const usualMs = durations.get(functionName)?.median() ?? firstGuessMs;
      return {
        afterMs: uniformFloat64(generator) * usualMs * killWindow,
        happened: () => increment(counters.killed, functionName),
      };
    },
    took(functionName, ms) {
      if (!kills.has(functionName)) return;
      const recent = durations.get(functionName) ?? new RecentDurations();
      recent.add(ms);
      durations.set(functionName, recent);
    },
    throttles(api) {
      const isThrottled = spec.throttle.has(api) && chosen(throttle, spec.throttle.get(api) ?? 0);
      if (isThrottled) increment(counters.throttled, api);
      return isThrottled;
    },
  };
}

type Generator = ReturnType<typeof xoroshiro128plus>;

/** The `index`-th of streams that never overlap. */
function stream(seed: number, index: number): Generator {
  const generator = xoroshiro128plus(seed);
  for (let jumps = 0; jumps < index; jumps++) generator.jump();
  return generator;
}

function chosen(generator: Generator, probability: number): boolean {
  return probability > 0 && uniformFloat64(generator) < probability;
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The last durations of a function's invocations. */
class RecentDurations {
  readonly #last: number[] = [];
  #next = 0;

  add(ms: number): void {
    this.#last[this.#next] = ms;
    this.#next = (this.#next + 1) % 64;
  }

  median(): number {
    const sorted = this.#last.toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? firstGuessMs;
  }
}
