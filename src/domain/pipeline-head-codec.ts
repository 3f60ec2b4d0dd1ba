/** The stored form of a pipeline's head: what the store has to see as fields of its own, and the text of the rest. */
import * as z from 'zod';
import { READY_REASONS } from './conditions.ts';
import type { Json } from './json.ts';
import { HEAD_SCHEMA_VERSION, type PipelineHead } from './pipeline-head.ts';

const time = z.number();
const count = z.int().nonnegative();
const order = { at: time, by: z.string().optional() };

const condition = z.strictObject({
  type: z.literal('Ready'),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.enum(READY_REASONS),
  message: z.string(),
  lastTransitionTime: time,
  observedRevision: z.string(),
});

const cursor = z.strictObject({ timing: z.string(), createdAt: time, settled: time });

const rejected = z.strictObject({ entry: z.string(), instant: time, code: z.string(), message: z.string() });

const backfill = z.strictObject({
  id: z.string(),
  revision: z.string(),
  from: time,
  to: time,
  direction: z.enum(['forward', 'backward']),
  maxActiveRuns: z.int().positive(),
  ...order,
  entries: z.array(z.tuple([z.string(), time])),
  total: count,
  started: count,
  active: z.array(z.string()),
});

const deletion = z.strictObject({
  ...order,
  isForced: z.literal(true).optional(),
  sweep: z
    .strictObject({ after: z.strictObject({ createdAt: time, id: z.string() }), found: z.literal(true).optional() })
    .optional(),
});

const headBody = z.strictObject({
  incarnation: z.string(),
  revision: z.string(),
  createdAt: time,
  updatedAt: time,
  ready: condition.optional(),
  tells: z.literal(true).optional(),
  engines: z.array(z.string()).optional(),
  paused: z.strictObject(order).optional(),
  cursors: z.array(z.tuple([z.string(), cursor])).optional(),
  rejected: z.array(rejected).optional(),
  backfills: z.array(backfill).optional(),
  deleting: deletion.optional(),
});

/** A stored head. */
export interface PackedHead {
  readonly name: string;
  readonly schemaVersion: number;
  readonly version: number;
  readonly dueAt?: number;
  readonly body: string;
}

/** A stored head that cannot be read. Other pipelines go on. */
export class DamagedPipelineError extends Error {
  constructor(pipeline: string, detail: string, cause?: unknown) {
    super(`the record of pipeline ${pipeline} is damaged: ${detail}`, { cause });
    this.name = 'DamagedPipelineError';
  }
}

/** A stored head of a newer version of the code, which alone may change it. */
export class NewerPipelineError extends Error {
  constructor(pipeline: string, schemaVersion: number) {
    super(
      `pipeline ${pipeline} has schema ${schemaVersion}, newer than ${HEAD_SCHEMA_VERSION}: leave it to newer code`,
    );
    this.name = 'NewerPipelineError';
  }
}

/**
 * What a reading gives, or nothing where its head cannot be read, for lists.
 * @throws whatever else goes wrong
 */
export function readableHead(read: () => PipelineHead): PipelineHead | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof DamagedPipelineError || error instanceof NewerPipelineError) return undefined;
    throw error;
  }
}

/** Writes a head. */
export function packHead({ name, version, dueAt, ...body }: PipelineHead): PackedHead {
  return {
    name,
    schemaVersion: HEAD_SCHEMA_VERSION,
    version,
    ...(dueAt !== undefined && { dueAt }),
    body: JSON.stringify(body),
  };
}

/**
 * Reads a head.
 * @throws DamagedPipelineError where it is not what {@link packHead} writes
 * @throws NewerPipelineError where newer code wrote it
 */
export function unpackHead({ name, schemaVersion, version, dueAt, body }: PackedHead): PipelineHead {
  if (schemaVersion > HEAD_SCHEMA_VERSION) throw new NewerPipelineError(name, schemaVersion);
  const parsed = headBody.safeParse(parseBody(name, body));
  if (!parsed.success) throw new DamagedPipelineError(name, z.prettifyError(parsed.error), parsed.error);
  // A field that is not there is missing, never undefined: the body was JSON.
  const rest = parsed.data as Omit<PipelineHead, 'name' | 'version' | 'dueAt'>;
  return { name, version, ...rest, ...(dueAt !== undefined && { dueAt }) };
}

function parseBody(name: string, body: string): Json {
  try {
    return JSON.parse(body) as Json;
  } catch (cause) {
    throw new DamagedPipelineError(name, 'it is no JSON', cause);
  }
}
