/** Flights as columns of a stored run, since a column's values resemble one another and deflate to little. */
import * as z from 'zod';
import { packAnswer, packedAnswer, unpackAnswer } from './command-codec.ts';
import { fromDistances, toDistances } from './distances.ts';
import type { Flight } from './run.ts';

const PHASES = ['starting', 'running', 'stopping', 'retry', 'queued'] as const;

const error = z.strictObject({ name: z.string(), message: z.string() });
const time = z.number();
const index = z.int().nonnegative();

const columns = z.strictObject({
  n: z.array(z.int()), // node, each after the one before
  j: z.array(z.int()).optional(), // item and 1, or 0 for none: each after the one before; absent where all are 0
  a: z.array(index), // attempt
  p: z.array(
    z
      .int()
      .min(0)
      .max(PHASES.length - 1),
  ), // phase
  s: z.array(time), // startedAt: since creation, each after the one before
  i: z.array(time), // since: after startedAt
  o: z.array(time), // pollAt: since creation, each after the one before
  l: z.array(index), // polls
  m: z.array(index), // machine
  c: z.array(z.union([z.literal(0), z.literal(1)])), // confirmed
  x: z
    .array(
      z.tuple([
        index, // place in the columns
        z.strictObject({
          e: z
            .enum(['Stopped', 'FailFast', 'RunTimedOut', 'TimedOut', 'EngineError', 'Marked', 'HeartbeatTimeout'])
            .optional(),
          r: error.optional(),
          m: time.optional(),
          t: z.literal(1).optional(),
          h: time.optional(), // heardAt: after startedAt
          q: z.string().optional(), // prompt
          y: packedAnswer.optional(),
        }),
      ]),
    )
    .optional(),
});

/** The schema of packed flights. */
export const packedFlights = columns.refine(hasEvenColumns, 'columns of unequal length');

function hasEvenColumns({ x: _sparse, j: items, ...dense }: z.output<typeof columns>): boolean {
  return [items ?? dense.n, ...Object.values(dense)].every((column) => column.length === dense.n.length);
}

/** Writes flights; `created` is the run's creation (ms since the epoch). */
export function packFlights(flights: readonly Flight[], created: number): z.input<typeof packedFlights> {
  const extras = flights.flatMap((flight, at) => {
    const extra = packExtra(flight, created);
    return Object.keys(extra).length > 0 ? [[at, extra] as [number, typeof extra]] : [];
  });
  return {
    n: toDistances(flights.map((flight) => flight.node)),
    ...(flights.some(({ item }) => item !== undefined) && {
      j: toDistances(flights.map(({ item }) => (item === undefined ? 0 : item + 1))),
    }),
    a: flights.map((flight) => flight.attempt),
    p: flights.map((flight) => PHASES.indexOf(flight.phase)),
    s: toDistances(flights.map((flight) => flight.startedAt - created)),
    i: flights.map((flight) => flight.since - flight.startedAt),
    o: toDistances(flights.map((flight) => flight.pollAt - created)),
    l: flights.map((flight) => flight.polls),
    m: flights.map((flight) => flight.machine),
    c: flights.map((flight) => (flight.confirmed ? 1 : 0)),
    ...(extras.length > 0 && { x: extras }),
  };
}

function packExtra(flight: Flight, created: number) {
  return {
    ...(flight.ending && { e: flight.ending }),
    ...(flight.error && { r: flight.error }),
    ...(flight.missingSince !== undefined && { m: flight.missingSince - flight.startedAt }),
    ...(flight.throttled && { t: 1 as const }),
    ...(flight.heardAt !== undefined && { h: flight.heardAt - flight.startedAt }),
    ...(flight.prompt !== undefined && { q: flight.prompt }),
    ...(flight.answer && { y: packAnswer(flight.answer, created) }),
  };
}

/** Reads flights. */
export function unpackFlights(packed: z.output<typeof packedFlights>, created: number): Flight[] {
  const extras = new Map(packed.x);
  const started = fromDistances(packed.s);
  const polls = fromDistances(packed.o);
  const items = packed.j && fromDistances(packed.j);
  return fromDistances(packed.n).map((node, at) => {
    const startedAt = (started[at] as number) + created;
    const extra = extras.get(at);
    const item = items?.[at] ?? 0;
    return {
      node,
      ...(item > 0 && { item: item - 1 }),
      attempt: packed.a[at] as number,
      phase: PHASES[packed.p[at] as number] as Flight['phase'],
      startedAt,
      since: (packed.i[at] as number) + startedAt,
      pollAt: (polls[at] as number) + created,
      polls: packed.l[at] as number,
      machine: packed.m[at] as number,
      confirmed: packed.c[at] === 1,
      ...(extra?.e && { ending: extra.e }),
      ...(extra?.r && { error: extra.r }),
      ...(extra?.m !== undefined && { missingSince: extra.m + startedAt }),
      ...(extra?.t && { throttled: true }),
      ...(extra?.h !== undefined && { heardAt: extra.h + startedAt }),
      ...(extra?.q !== undefined && { prompt: extra.q }),
      ...(extra?.y && { answer: unpackAnswer(extra.y, created) }),
    };
  });
}
