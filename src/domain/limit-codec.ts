/**
 * The text form of a limit. Holders are tuples, as there may be {@link MAX_SLOTS} and more of them; every field is
 * checked when a record is read, so that nothing is granted from a damaged one.
 */
import * as z from 'zod';
import type { Json } from './json.ts';
import { type EngineState, LIMIT_SCHEMA_VERSION, type LimitHolder, type LimitRecord } from './limit.ts';

const time = z.number();
const count = z.int().nonnegative();
const flag = z.literal(1);

const packedHolder = z.union([
  z.tuple([z.string(), z.string(), z.string(), count, count]), // run, nonce, pipeline, granted, returned
  z.tuple([z.string(), z.string(), z.string(), count, count, flag]), // unheard
]);

type JsonSchema = NonNullable<EngineState['paramsSchema']>;

/** Judges and hands on: what zod makes of an object would lose keys such as `__proto__`. */
const jsonObject = z.custom<JsonSchema>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'not an object',
);

const packedEngine = z.strictObject({
  g: count,
  a: z.string(),
  l: z.array(z.tuple([z.string(), z.string()])).optional(),
  p: jsonObject.optional(),
  h: time.optional(),
  b: time.optional(),
  d: flag.optional(),
  t: z.string().optional(),
  u: time,
});

const packedLimit = z.strictObject({
  s: count.optional(),
  p: time.optional(),
  e: packedEngine.optional(),
  n: count.optional(),
  h: z.array(packedHolder).optional(),
  l: z.string().optional(),
  r: flag.optional(),
  t: flag.optional(),
  o: z.enum(['Available', 'Draining', 'Unavailable']).optional(),
});

/** A stored limit: what the store has to see as fields of its own, and the text of the rest. */
export interface PackedLimit {
  readonly name: string;
  readonly schemaVersion: number;
  readonly rev: number;
  readonly dueAt?: number;
  readonly body: string;
}

/** A stored limit that cannot be read. What needs other limits goes on. */
export class DamagedLimitError extends Error {
  readonly code = 'DAMAGED_LIMIT';
  readonly limit: string;

  constructor(limit: string, detail: string, cause?: unknown) {
    super(`the record of limit ${limit} is damaged: ${detail}`, { cause });
    this.name = 'DamagedLimitError';
    this.limit = limit;
  }
}

/** A stored limit of a newer version of the code, which alone may change it. */
export class NewerLimitError extends Error {
  readonly code = 'NEWER_LIMIT';

  constructor(limit: string, schemaVersion: number) {
    super(`limit ${limit} has schema ${schemaVersion}, newer than ${LIMIT_SCHEMA_VERSION}: leave it to newer code`);
    this.name = 'NewerLimitError';
  }
}

/**
 * What a reading gives, or nothing where its limit cannot be read, for lists.
 * @throws whatever else goes wrong
 */
export function readableLimit(read: () => LimitRecord): LimitRecord | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof DamagedLimitError || error instanceof NewerLimitError) return undefined;
    throw error;
  }
}

/** Writes a limit. */
export function packLimit(limit: LimitRecord): PackedLimit {
  const packed: z.input<typeof packedLimit> = {
    s: limit.slots,
    p: limit.pausedAt,
    e: limit.engine && packEngine(limit.engine),
    n: limit.generations,
    h: limit.holders.length > 0 ? limit.holders.map(packHolder) : undefined,
    l: limit.lastServed,
    o: limit.toldStatus,
    r: limit.ringsWaiting ? 1 : undefined,
    t: limit.tellsPipelines ? 1 : undefined,
  };
  return {
    name: limit.name,
    schemaVersion: LIMIT_SCHEMA_VERSION,
    rev: limit.rev,
    ...(limit.dueAt !== undefined && { dueAt: limit.dueAt }),
    body: JSON.stringify(packed),
  };
}

/**
 * Reads a limit.
 * @throws DamagedLimitError where it is not what {@link packLimit} writes
 * @throws NewerLimitError where newer code wrote it
 */
export function unpackLimit({ name, schemaVersion, rev, dueAt, body }: PackedLimit): LimitRecord {
  if (schemaVersion > LIMIT_SCHEMA_VERSION) throw new NewerLimitError(name, schemaVersion);
  const packed = parseBody(name, body);
  return {
    name,
    rev,
    ...(packed.s !== undefined && { slots: packed.s }),
    ...(packed.p !== undefined && { pausedAt: packed.p }),
    ...(packed.e && { engine: unpackEngine(packed.e) }),
    ...(packed.n !== undefined && { generations: packed.n }),
    holders: (packed.h ?? []).map(unpackHolder),
    ...(packed.l !== undefined && { lastServed: packed.l }),
    ...(packed.o && { toldStatus: packed.o }),
    ...(packed.r && { ringsWaiting: true }),
    ...(packed.t && { tellsPipelines: true }),
    ...(dueAt !== undefined && { dueAt }),
  };
}

function parseBody(name: string, body: string): z.output<typeof packedLimit> {
  let value: Json;
  try {
    value = JSON.parse(body) as Json;
  } catch (cause) {
    throw new DamagedLimitError(name, 'it is no JSON', cause);
  }
  const parsed = packedLimit.safeParse(value);
  if (!parsed.success) throw new DamagedLimitError(name, z.prettifyError(parsed.error), parsed.error);
  return parsed.data;
}

function packHolder(holder: LimitHolder): z.input<typeof packedHolder> {
  const { run, nonce, pipeline, granted, returned, unheard } = holder;
  return unheard ? [run, nonce, pipeline, granted, returned, 1] : [run, nonce, pipeline, granted, returned];
}

function unpackHolder(packed: z.output<typeof packedHolder>): LimitHolder {
  const [run, nonce, pipeline, granted, returned, unheard] = packed;
  return { run, nonce, pipeline, granted, returned, ...(unheard && { unheard: true }) };
}

function packEngine(engine: EngineState): z.input<typeof packedEngine> {
  return {
    g: engine.generation,
    a: engine.stateMachineArn,
    l: engine.labels.length > 0 ? engine.labels.map(([key, value]) => [key, value]) : undefined,
    p: engine.paramsSchema,
    h: engine.heartbeatSeconds,
    b: engine.lastHeartbeatAt,
    d: engine.isDraining ? 1 : undefined,
    t: engine.trouble,
    u: engine.updatedAt,
  };
}

function unpackEngine(packed: z.output<typeof packedEngine>): EngineState {
  return {
    generation: packed.g,
    stateMachineArn: packed.a,
    labels: packed.l ?? [],
    ...(packed.p && { paramsSchema: packed.p }),
    ...(packed.h !== undefined && { heartbeatSeconds: packed.h }),
    ...(packed.b !== undefined && { lastHeartbeatAt: packed.b }),
    ...(packed.d && { isDraining: true }),
    ...(packed.t !== undefined && { trouble: packed.t }),
    updatedAt: packed.u,
  };
}
