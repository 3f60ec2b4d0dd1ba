/**
 * The text form of a run's state, short enough that a run of 50 nodes fits into one write unit once deflated.
 * Times are kept as distances from the run's creation, lists of nodes as distances from one another.
 * Reading checks every field: a damaged record is told from a good one before anything is decided from it.
 */
import * as z from 'zod';
import { packDeletion, packedDeletion, packedMark, packMark, unpackDeletion, unpackMark } from './command-codec.ts';
import { fromDistances, toDistances } from './distances.ts';
import { packedFlights, packFlights, unpackFlights } from './flight-codec.ts';
import { packedRunLimit, packRunLimit, unpackRunLimit } from './limits-codec.ts';
import {
  packBranch,
  packedBranch,
  packedMap,
  packedQueued,
  packMap,
  packQueued,
  unpackBranch,
  unpackMap,
  unpackQueued,
} from './map-codec.ts';
import { isVector, type NodeCode } from './node-status.ts';
import { REASONS } from './reasons.ts';
import { type Decision, RUN_SCHEMA_VERSION, RUN_STATES, type RunRecord } from './run.ts';

const error = z.strictObject({ name: z.string(), message: z.string() });
const time = z.number();
const index = z.int().nonnegative();

const packedDecision = z.tuple([
  time, // at, since creation
  index, // rev
  z.string().refine((to) => to === 'run' || (to.length === 1 && isVector(to)), 'not a status'), // to
  z.array(z.int()), // nodes, each after the one before
  index, // attempt
  z
    .strictObject({
      s: z.enum(RUN_STATES).optional(),
      w: z.enum(REASONS).optional(),
      r: error.optional(),
      b: z.string().optional(),
      i: z.array(z.int()).optional(), // items, each after the one before
      f: z.string().optional(),
      t: z.tuple([time, time]).optional(), // since creation
      n: z.string().optional(),
    })
    .optional(),
]);

const packedParent = z.strictObject({
  run: z.string(),
  nonce: z.string(),
  node: index,
  item: index.optional(),
  attempt: index,
});

const packedRun = z.strictObject({
  p: z.string(),
  v: z.string(),
  n: z.string(),
  k: z.string(),
  s: z.enum(RUN_STATES),
  w: z.enum(REASONS),
  i: time,
  c: time,
  b: time.optional(),
  e: time.optional(),
  t: z.strictObject({
    type: z.enum(['api', 'schedule', 'event', 'rerun', 'backfill', 'pipeline']),
    by: z.string().optional(),
    runId: z.string().optional(),
    instant: z.string().optional(),
    previousInstant: z.string().optional(),
    entry: z.string().optional(),
    backfill: z.string().optional(),
  }),
  P: packedParent.optional(),
  D: index.optional(),
  R: index.optional(),
  g: z.array(z.tuple([z.string(), z.string()])).optional(),
  h: z.string(),
  x: z.string().refine(isVector, 'not a vector of node statuses'),
  m: z.array(z.string()),
  f: packedFlights.optional(),
  M: z.array(packedMap).optional(),
  B: z.array(packedBranch).optional(),
  Q: z.array(packedQueued).optional(),
  l: z.array(packedRunLimit).optional(),
  H: z.array(packedMark).optional(),
  X: packedDeletion.optional(),
  o: z
    .strictObject({
      kind: z.enum(['user', 'timeout', 'failFast', 'overlap', 'fault']),
      at: time,
      by: z.string().optional(),
    })
    .optional(),
  F: z.strictObject({ node: index, error }).optional(),
  E: error.optional(),
  O: z.string().optional(),
  W: time.optional(),
  d: z.array(packedDecision).optional(),
  a: z.tuple([z.int(), z.enum(RUN_STATES)]),
});

/** A stored run: what the store has to see as fields of its own, and the text of the rest. */
export interface PackedRun {
  readonly id: string;
  readonly schemaVersion: number;
  readonly rev: number;
  readonly dueAt?: number;
  readonly body: string;
}

/** A stored run that cannot be read. Its own trouble: it must never stop another run. */
export class DamagedRunError extends Error {
  readonly code = 'DAMAGED_RUN';
  readonly runId: string;

  constructor(runId: string, detail: string, cause?: unknown) {
    super(`the record of run ${runId} is damaged: ${detail}`, { cause });
    this.name = 'DamagedRunError';
    this.runId = runId;
  }
}

/** A stored run of a newer version of the code, which alone may change it. */
export class NewerRunError extends Error {
  readonly code = 'NEWER_RUN';

  constructor(runId: string, schemaVersion: number) {
    super(`run ${runId} has schema ${schemaVersion}, newer than ${RUN_SCHEMA_VERSION}: leave it to newer code`);
    this.name = 'NewerRunError';
  }
}

/** Writes a run, in the layout of this version whichever it was read from. */
export function packRun(run: RunRecord): PackedRun {
  const packed: z.input<typeof packedRun> = {
    p: run.pipeline,
    v: run.revision,
    n: run.nonce,
    k: run.secret,
    s: run.state,
    w: run.reason,
    i: run.since - run.createdAt,
    c: run.createdAt,
    b: run.startedAt === undefined ? undefined : run.startedAt - run.createdAt,
    e: run.endedAt === undefined ? undefined : run.endedAt - run.createdAt,
    t: run.trigger,
    P: run.parent,
    D: run.depth,
    R: run.retainDays,
    g: run.tags.length > 0 ? run.tags.map(([key, value]) => [key, value]) : undefined,
    h: run.inputHash,
    x: run.nodes,
    m: [...run.machines],
    f: run.flights.length > 0 ? packFlights(run.flights, run.createdAt) : undefined,
    M: run.maps?.map(packMap),
    B: run.branches?.map(packBranch),
    Q: run.queued?.map((entry) => packQueued(entry, run.createdAt)),
    l: run.limits?.map((entry) => packRunLimit(entry, run.createdAt)),
    H: run.marks?.map((mark) => packMark(mark, run.createdAt)),
    X: run.deleted && packDeletion(run.deleted, run.createdAt),
    o: run.stop,
    F: run.firstBad,
    E: run.error,
    O: run.outputKey,
    W: run.watchedUntil === undefined ? undefined : run.watchedUntil - run.createdAt,
    d: run.decisions.length > 0 ? run.decisions.map((decision) => packDecision(decision, run.createdAt)) : undefined,
    a: [run.announced.rev, run.announced.state],
  };
  return {
    id: run.id,
    schemaVersion: RUN_SCHEMA_VERSION,
    rev: run.rev,
    ...(run.dueAt !== undefined && { dueAt: run.dueAt }),
    body: JSON.stringify(packed),
  };
}

/**
 * Reads a run.
 * @throws DamagedRunError where the text is not what `packRun` writes
 * @throws NewerRunError where newer code wrote it
 */
export function unpackRun(stored: PackedRun): RunRecord {
  if (stored.schemaVersion > RUN_SCHEMA_VERSION) throw new NewerRunError(stored.id, stored.schemaVersion);
  let value: unknown;
  try {
    value = JSON.parse(stored.body);
  } catch (cause) {
    throw new DamagedRunError(stored.id, 'not JSON', cause);
  }
  const parsed = packedRun.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new DamagedRunError(stored.id, `${issue?.path.join('.')}: ${issue?.message}`, parsed.error);
  }
  return toRun(stored, parsed.data);
}

function toRun(stored: PackedRun, packed: z.output<typeof packedRun>): RunRecord {
  const created = packed.c;
  return {
    schemaVersion: RUN_SCHEMA_VERSION,
    id: stored.id,
    pipeline: packed.p,
    revision: packed.v,
    nonce: packed.n,
    secret: packed.k,
    rev: stored.rev,
    state: packed.s,
    reason: packed.w,
    since: packed.i + created,
    createdAt: created,
    ...(packed.b !== undefined && { startedAt: packed.b + created }),
    ...(packed.e !== undefined && { endedAt: packed.e + created }),
    // A field that is not there is missing, never undefined: the body was JSON.
    trigger: packed.t as RunRecord['trigger'],
    ...(packed.P && { parent: packed.P }),
    ...(packed.D !== undefined && { depth: packed.D }),
    ...(packed.R !== undefined && { retainDays: packed.R }),
    tags: packed.g ?? [],
    inputHash: packed.h,
    nodes: packed.x,
    machines: packed.m,
    flights: packed.f ? unpackFlights(packed.f, created) : [],
    ...(packed.M && { maps: packed.M.map(unpackMap) }),
    ...(packed.B && { branches: packed.B.map(unpackBranch) }),
    ...(packed.Q && { queued: packed.Q.map((entry) => unpackQueued(entry, created)) }),
    ...(packed.l && { limits: packed.l.map((entry) => unpackRunLimit(entry, created)) }),
    ...(packed.H && { marks: packed.H.map((mark) => unpackMark(mark, created)) }),
    ...(packed.X && { deleted: unpackDeletion(packed.X, created) }),
    ...(packed.o && {
      stop: { kind: packed.o.kind, at: packed.o.at, ...(packed.o.by !== undefined && { by: packed.o.by }) },
    }),
    ...(packed.F && { firstBad: packed.F }),
    ...(packed.E && { error: packed.E }),
    ...(packed.O !== undefined && { outputKey: packed.O }),
    ...(packed.W !== undefined && { watchedUntil: packed.W + created }),
    decisions: (packed.d ?? []).map((decision) => unpackDecision(decision, created)),
    announced: { rev: packed.a[0], state: packed.a[1] },
    ...(stored.dueAt !== undefined && { dueAt: stored.dueAt }),
  };
}

function packDecision(decision: Decision, created: number): z.input<typeof packedDecision> {
  const extra = {
    ...(decision.state && { s: decision.state }),
    ...(decision.reason && { w: decision.reason }),
    ...(decision.error && { r: decision.error }),
    ...(decision.by !== undefined && { b: decision.by }),
    ...(decision.note !== undefined && { n: decision.note }),
    ...(decision.items && { i: toDistances(decision.items) }),
    ...(decision.from !== undefined && { f: decision.from }),
    ...(decision.times && { t: [decision.times.startedAt - created, decision.times.endedAt - created] }),
  };
  return [
    decision.at - created,
    decision.rev,
    decision.to,
    toDistances(decision.nodes),
    decision.attempt,
    ...(Object.keys(extra).length > 0 ? [extra] : []),
  ] as z.input<typeof packedDecision>;
}

function unpackDecision(packed: z.output<typeof packedDecision>, created: number): Decision {
  const [at, rev, to, nodes, attempt, extra] = packed;
  return {
    at: at + created,
    rev,
    to: to as NodeCode | 'run',
    nodes: fromDistances(nodes),
    attempt,
    ...(extra?.s && { state: extra.s }),
    ...(extra?.w && { reason: extra.w }),
    ...(extra?.r && { error: extra.r }),
    ...(extra?.b !== undefined && { by: extra.b }),
    ...(extra?.n !== undefined && { note: extra.n }),
    ...(extra?.i && { items: fromDistances(extra.i) }),
    ...(extra?.f !== undefined && { from: extra.f }),
    ...(extra?.t && { times: { startedAt: extra.t[0] + created, endedAt: extra.t[1] + created } }),
  };
}

/** Writes decisions as a history item's text; `created` is the run's creation (ms since the epoch). */
export function packDecisions(decisions: readonly Decision[], created: number): string {
  return JSON.stringify(decisions.map((decision) => packDecision(decision, created)));
}

/**
 * Reads a history item's text.
 * @throws z.ZodError where it is damaged
 */
export function unpackDecisions(text: string, created: number): Decision[] {
  return z
    .array(packedDecision)
    .parse(JSON.parse(text))
    .map((decision) => unpackDecision(decision, created));
}
