/** What the commands read of the API's answers. Fields that a newer server adds are let through unread. */
import { z } from 'zod';

const instant = z.iso.datetime().transform((text) => Date.parse(text));
const error = z.object({ name: z.string(), message: z.string() });
const trigger = z.object({ type: z.string(), by: z.string().optional() });
const tags = z.record(z.string(), z.string());

/** A run. Times are milliseconds since 1970. */
export const runShape = z.object({
  id: z.string(),
  pipeline: z.string(),
  revision: z.string(),
  state: z.string(),
  reason: z.string(),
  message: z.string(),
  since: instant,
  output: z.unknown().optional(),
  outputRef: z.string().optional(),
  error: error.extend({ node: z.string().optional() }).optional(),
  createdAt: instant,
  startedAt: instant.optional(),
  endedAt: instant.optional(),
  trigger,
  tags,
  counts: z.record(z.string(), z.int()),
  rev: z.int(),
});
export type RunShape = z.output<typeof runShape>;

/** A line of the list of runs. */
export const runLineShape = z.object({
  id: z.string(),
  pipeline: z.string(),
  state: z.string(),
  createdAt: instant,
  startedAt: instant.optional(),
  endedAt: instant.optional(),
  trigger,
  tags,
});
export type RunLineShape = z.output<typeof runLineShape>;

/** How many items a map has, and how many of them are in which state. */
export const mapShape = z.object({ total: z.int(), counts: z.record(z.string(), z.int()) });
export type MapShape = z.output<typeof mapShape>;

/** A node of a run. */
export const nodeShape = z.object({
  id: z.string(),
  state: z.string(),
  reason: z.string(),
  message: z.string(),
  since: instant,
  attempt: z.int(),
  startedAt: instant.optional(),
  endedAt: instant.optional(),
  error: error.optional(),
  map: mapShape.optional(),
  reusedFrom: z.string().optional(),
});
export type NodeShape = z.output<typeof nodeShape>;

/** An entry of a run's history. */
export const historyShape = z.object({
  at: instant,
  rev: z.int(),
  node: z.string().optional(),
  state: z.string(),
  reason: z.string(),
  attempt: z.int().optional(),
  items: z.array(z.int()).optional(),
  branch: z.object({ chosen: z.array(z.string()) }).optional(),
  error: error.optional(),
  by: z.string().optional(),
  note: z.string().optional(),
  reusedFrom: z.string().optional(),
});
export type HistoryShape = z.output<typeof historyShape>;

/** An attempt of a node, as far as its failure goes. */
export const attemptShape = z.object({ attempt: z.int(), error: error.optional() });
export type AttemptShape = z.output<typeof attemptShape>;

/** What a run waits for. */
export const explanationShape = z.object({
  run: z.object({
    id: z.string(),
    state: z.string(),
    reason: z.string(),
    message: z.string(),
    since: instant,
    movedBy: z.string().optional(),
  }),
  items: z.array(
    z.object({
      id: z.string(),
      state: z.string(),
      reason: z.string(),
      message: z.string(),
      since: instant,
      movedBy: z.string(),
    }),
  ),
  nextCursor: z.string().optional(),
});
export type ExplanationShape = z.output<typeof explanationShape>;

/** What became of a command to a run. */
export const commandShape = z.object({ outcome: z.string(), message: z.string(), run: runShape });
export type CommandShape = z.output<typeof commandShape>;

const conditionShape = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: instant,
});

/** A backfill under way. */
export const backfillShape = z.object({
  id: z.string(),
  from: instant,
  to: instant,
  direction: z.string(),
  maxActiveRuns: z.int(),
  total: z.int(),
  started: z.int(),
});
export type BackfillShape = z.output<typeof backfillShape>;

const instantOfEntry = z.object({ entry: z.string(), instant });

/** What a dry run of a backfill answers. */
export const backfillPlanShape = z.object({ instants: z.array(instantOfEntry) });
export type BackfillPlanShape = z.output<typeof backfillPlanShape>;

/** A line of the list of pipelines. */
export const pipelineLineShape = z.object({
  name: z.string(),
  revision: z.string(),
  paused: z.boolean(),
  pausedBy: z.string().optional(),
  conditions: z.array(conditionShape).default([]),
  createdAt: instant,
  updatedAt: instant,
});
export type PipelineLineShape = z.output<typeof pipelineLineShape>;

/** A pipeline with its definition, as far as the commands show it. */
export const pipelineShape = pipelineLineShape.extend({
  definition: z.object({
    description: z.string().optional(),
    nodes: z.array(
      z.object({
        id: z.string(),
        engine: z.string().optional(),
        dependsOn: z.array(z.string()).default([]),
        map: z.unknown().optional(),
      }),
    ),
  }),
  nextInstants: z.array(instantOfEntry).default([]),
  rejectedStarts: z.array(instantOfEntry.extend({ message: z.string() })).default([]),
  backfills: z.array(backfillShape).default([]),
});
export type PipelineShape = z.output<typeof pipelineShape>;

/** A problem (RFC 9457). */
export const problemShape = z.object({
  code: z.string(),
  detail: z.string().default(''),
  errors: z.array(z.object({ path: z.string(), code: z.string(), message: z.string() })).default([]),
});

/** A page of a list. */
export function pageShape<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), nextCursor: z.string().optional() });
}
