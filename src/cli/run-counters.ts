import type { Run, RunNode } from '#client/index.ts';
import { costOf, PRICES } from '#local/aws-prices.ts';
import type { ChaosCounters } from '#local/chaos.ts';
import type { WireCounts } from '#local/wire-log.ts';
import { hopFigures, hopsOf } from './hops.ts';
import { toMs } from './time-text.ts';

/** What chaos did, for JSON. */
export interface ChaosFigures {
  readonly droppedEvents: number;
  readonly repeatedEvents: number;
  readonly delayedEvents: number;
  /** Invocations that died, by function. */
  readonly killed: Readonly<Record<string, number>>;
  /** Calls that were throttled, by API. */
  readonly throttled: Readonly<Record<string, number>>;
}

/** What a run on the embedded host took and cost: the `counters` of `millrace run --json`. */
export interface RunCounters extends WireCounts {
  readonly durationMs: number;
  /** End of a node's last upstream to its start. Absent if no node has an upstream. */
  readonly hops?: { readonly count: number; readonly medianMs: number; readonly longestMs: number };
  /** What the calls would cost on AWS, in US dollars, at list prices and without free tiers. */
  readonly dollars: number;
  readonly prices: { readonly region: string; readonly readOn: string };
  /** HTTP requests of the command itself; what they caused is among the counts. */
  readonly ownRequests: number;
  readonly chaos?: ChaosFigures;
}

/** Upstreams by node. */
export type Upstreams = ReadonlyMap<string, readonly string[]>;

/** Gathers the counters of a run that has ended. */
export function countersOf(
  run: Run,
  nodes: readonly RunNode[],
  upstreams: Upstreams,
  counted: { readonly wire: WireCounts; readonly ownRequests: number; readonly chaos: ChaosCounters | undefined },
): RunCounters {
  const hops = hopFigures(hopsOf(nodes, upstreams));
  return {
    durationMs: toMs(run.endedAt ?? run.since) - toMs(run.createdAt),
    ...(hops && { hops }),
    ...counted.wire,
    dollars: costOf(counted.wire).dollars,
    prices: { region: PRICES.region, readOn: PRICES.readOn },
    ownRequests: counted.ownRequests,
    ...(counted.chaos && { chaos: chaosFigures(counted.chaos) }),
  };
}

/** The figures of chaos, for JSON. */
export function chaosFigures({ dropped, repeated, delayed, killed, throttled }: ChaosCounters): ChaosFigures {
  return {
    droppedEvents: dropped,
    repeatedEvents: repeated,
    delayedEvents: delayed,
    killed: Object.fromEntries(killed),
    throttled: Object.fromEntries(throttled),
  };
}
