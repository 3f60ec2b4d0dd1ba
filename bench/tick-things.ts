/** Records by the hundred thousand for a tick to find or not to find: one of each kind, under many names. */
import { DueMap } from '#adapters/memory/memory-due-index.ts';
import { newLimit } from '#domain/limit.ts';
import { packLimit } from '#domain/limit-codec.ts';
import type { RunRecord } from '#domain/run.ts';
import { packRun } from '#domain/run-codec.ts';
import type { DueThing } from '#ports/index.ts';
import { runAt } from './aggregate-runs.ts';

const NODES = 50;
const MINUTE_MS = 60_000;
/** Polls of an execution are a quarter of an hour apart at most. */
const LATER_TICKS = 15;
/** When the tick comes (ms since the epoch). */
export const TICK_AT = Date.UTC(2026, 10, 30, 9);

/** How many there are of what. */
export interface Things {
  readonly due?: number;
  /** Runs that are active, half of them due within the next quarter of an hour, half in no way. */
  readonly active?: number;
  /** Runs that are over. */
  readonly finished?: number;
  readonly dueLimits?: number;
  readonly duePipelines?: number;
}

const active = runAt(NODES, { name: 'half done', done: 0.5, flights: 5, failed: 0 });
const finished = runAt(NODES, { name: 'all done', done: 1, flights: 0, failed: 0 });

/** The runs, one after the other; each is the same one under an id and with a due time of its own. */
export function* runsOf({ due = 0, active: later = 0, finished: over = 0 }: Things): Generator<RunRecord> {
  for (let at = 0; at < due; at++) yield withDue(active, `due${at}`, TICK_AT - MINUTE_MS * (at % LATER_TICKS));
  for (let at = 0; at < later; at++) {
    yield withDue(active, `active${at}`, at % 2 === 0 ? TICK_AT + MINUTE_MS * (1 + (at % LATER_TICKS)) : undefined);
  }
  for (let at = 0; at < over; at++) yield withDue(finished, `finished${at}`, undefined);
}

function withDue(template: RunRecord, id: string, dueAt: number | undefined): RunRecord {
  const { dueAt: _other, ...rest } = template;
  return { ...rest, id: id.padStart(26, 'a'), ...(dueAt !== undefined && { dueAt }) };
}

/** The same as the memory stores hold it. */
export function storesOf(things: Things): Readonly<Record<DueThing['kind'], DueMap<{ readonly dueAt?: number }>>> {
  const bodies = new Map([active, finished].map((run) => [run.state, packRun(run)]));
  const run = new DueMap<{ readonly dueAt?: number }>();
  for (const { id, state, dueAt } of runsOf(things)) {
    const { dueAt: _other, ...packed } = bodies.get(state) as ReturnType<typeof packRun>;
    const stored = { ...packed, id, ...(dueAt !== undefined && { dueAt }) };
    run.set(id, stored);
  }
  return { run, limit: new DueMap(limitsOf(things)), pipeline: new DueMap(headsOf(things)) };
}

function limitsOf({ dueLimits = 0 }: Things) {
  return Array.from({ length: dueLimits }, (_, at) => {
    const name = `engine/e${at}`;
    return [name, packLimit({ ...newLimit(name, 10), dueAt: TICK_AT })] as const;
  });
}

/** Of a head a tick sees its name and its due time alone. */
function headsOf({ duePipelines = 0 }: Things) {
  return Array.from({ length: duePipelines }, (_, at) => [`p${at}`, { name: `p${at}`, dueAt: TICK_AT }] as const);
}
