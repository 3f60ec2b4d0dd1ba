import type { Flight, MapState, QueuedNode, RunRecord } from './run.ts';

/** What a run keeps beside its vector, by index of the node that it is about. */
export interface RunIndex {
  /** The attempts of nodes. */
  readonly flights: ReadonlyMap<number, Flight>;
  /** The attempts of the items of maps, by item. */
  readonly itemFlights: ReadonlyMap<number, ReadonlyMap<number, Flight>>;
  /** Maps that have their list. */
  readonly maps: ReadonlyMap<number, MapState>;
  /** What branch nodes chose, in the order of their expressions. */
  readonly branches: ReadonlyMap<number, ReadonlySet<number>>;
  readonly queued: ReadonlyMap<number, QueuedNode>;
}

/** Records never change, so one that is looked at again is indexed once. */
const known = new WeakMap<RunRecord, RunIndex>();

/** The index of a run, made in time linear in what the run keeps. */
export function indexRun(run: RunRecord): RunIndex {
  let index = known.get(run);
  if (!index) {
    index = toIndex(run);
    known.set(run, index);
  }
  return index;
}

function toIndex(run: RunRecord): RunIndex {
  const flights = new Map<number, Flight>();
  const itemFlights = new Map<number, Map<number, Flight>>();
  for (const flight of run.flights) {
    if (flight.item === undefined) flights.set(flight.node, flight);
    else {
      const items = itemFlights.get(flight.node);
      if (items) items.set(flight.item, flight);
      else itemFlights.set(flight.node, new Map([[flight.item, flight]]));
    }
  }
  return {
    flights,
    itemFlights,
    maps: byNode(run.maps),
    branches: new Map(run.branches?.map(({ node, chosen }) => [node, new Set(chosen)])),
    queued: byNode(run.queued),
  };
}

function byNode<T extends { readonly node: number }>(entries: readonly T[] = []): ReadonlyMap<number, T> {
  return new Map(entries.map((entry) => [entry.node, entry]));
}
