import * as z from 'zod';
import {
  CATCH_UPS,
  DEFINITION_LIMITS,
  type DefinitionError,
  OVERLAP_POLICIES,
  type PipelineDefinition,
  TRIGGER_RULES,
} from './definition.ts';
import { checkGraph } from './definition-checks.ts';
import { checkEnginelessNodes } from './definition-engineless-nodes.ts';
import { ErrorList } from './definition-errors.ts';
import { checkExpressions } from './definition-expressions.ts';
import { memberOf, readJson } from './definition-json.ts';
import { checkLambdaNodes } from './definition-lambda-nodes.ts';
import { checkPipelineNodes } from './definition-pipeline-nodes.ts';
import { checkSchedule } from './definition-schedule.ts';
import { checkShape } from './definition-shape.ts';
import { checkInputSchema } from './input-schema.ts';
import { isJsonObject, type Json } from './json.ts';

const {
  maxConcurrency,
  toleratedFailurePercentage,
  toleratedFailureCount,
  queueTimeoutSeconds,
  ttlSeconds,
  timeoutSeconds,
  maxAttempts,
  intervalSeconds,
  backoffRate,
  maxDelaySeconds,
  retainDays,
  heartbeatSeconds,
  priority,
  maxActiveRuns,
  catchUpWindowSeconds,
} = DEFINITION_LIMITS;

/** A pipeline's or an engine's name: letters, digits, dot, underscore and hyphen, at most 128 characters. */
export const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

const whole = (range: { min: number; max: number }) => z.int().min(range.min).max(range.max);
const amount = (range: { min: number; max: number }) => z.number().min(range.min).max(range.max);
const name = z.string().regex(NAME_PATTERN);

/** The length is checked before the entries, so that a hostile list does not become a million issues. */
const boundedTexts = (entries: number) =>
  z
    .array(z.unknown())
    .max(entries)
    .pipe(z.array(z.string().min(1)).max(entries));

const errorNames = boundedTexts(DEFINITION_LIMITS.errorNames);

const retrySchema = z.strictObject({
  maxAttempts: whole(maxAttempts).optional().describe('Attempts in all, the first included. Default 1.'),
  intervalSeconds: amount(intervalSeconds).optional().describe('Wait before the second attempt. Default 1.'),
  backoffRate: amount(backoffRate).optional().describe('Factor from one wait to the next. Default 2.'),
  maxDelaySeconds: amount(maxDelaySeconds).optional().describe('Longest wait. Default 86400.'),
  jitter: z.enum(['full', 'none']).optional().describe('full: each wait is drawn from 0 to its value. Default none.'),
  on: errorNames.optional().describe('Error names that are retried. Default States.ALL.'),
  notOn: errorNames.optional().describe('Error names that are never retried; wins over on.'),
});

const mapSchema = z.strictObject({
  items: z
    .union([z.string(), z.array(z.unknown()).max(DEFINITION_LIMITS.mapItems)])
    .describe('A list, or {% … %} that gives one.'),
  maxConcurrency: whole(maxConcurrency).optional().describe('Items under way at the same time. Default 100.'),
  toleratedFailurePercentage: amount(toleratedFailurePercentage)
    .optional()
    .describe('Share of the items that may fail, in percent. Default 0.'),
  toleratedFailureCount: whole(toleratedFailureCount)
    .optional()
    .describe('Number of items that may fail; the larger of the two counts. Default 0.'),
});

const cacheSchema = z.strictObject({
  key: z
    .unknown()
    .refine((key) => key !== undefined)
    .describe('Any JSON. Texts {% … %} inside are JSONata.'),
  ttlSeconds: whole(ttlSeconds).optional().describe('How long an output serves later runs. Default 86400.'),
});

const scheduleEntrySchema = z.strictObject({
  id: name.optional().describe('Names the entry over its edits. Default its position in the list, as text.'),
  cron: z.string().optional().describe('Five fields: minute, hour, day of month, month, day of week. Or rate.'),
  rate: z.string().optional().describe("15 minutes, 1 hour, 2 days: counted from the entry's creation. Or cron."),
  timezone: z.string().optional().describe('IANA time zone in which cron is read. Default UTC.'),
  input: z.unknown().optional().describe('The input of the runs, as it stands. Default {}.'),
  catchUp: z
    .enum(CATCH_UPS)
    .optional()
    .describe('Which instants are started later that nobody started in their time. Default none.'),
  catchUpWindowSeconds: whole(catchUpWindowSeconds)
    .optional()
    .describe('How old an instant may be that catchUp: all starts. Default 86400.'),
});

const nodeSchema = z.strictObject({
  id: z.string().meta({
    description: 'Told apart code point by code point. Not blank, no control characters.',
    minLength: 1,
    maxLength: DEFINITION_LIMITS.idLength,
  }),
  engine: name.optional().describe('Name of a registered engine. Default lambda.'),
  params: z.looseObject({}).optional().describe('What the engine gets. Texts {% … %} inside are JSONata.'),
  dependsOn: boundedTexts(DEFINITION_LIMITS.edges).optional().describe('Ids of direct upstreams.'),
  trigger: z.enum(TRIGGER_RULES).optional().describe('When the node may run. Default all_success.'),
  when: z.string().optional().describe('{% … %}; false skips the node.'),
  map: mapSchema.optional().describe('Runs the node once for each item of a list.'),
  branch: z
    .string()
    .optional()
    .describe('{% … %} over $output: the id or ids of the direct downstreams that are chosen.'),
  cache: cacheSchema.optional().describe('Takes the output of an earlier success with the same key.'),
  retry: retrySchema.optional(),
  pool: name.optional().describe('Name of a limit that is shared across runs and pipelines. Default none.'),
  priority: whole(priority).optional().describe('Who goes first where a limit is full: the greater. Default 0.'),
  heartbeatSeconds: whole(heartbeatSeconds)
    .optional()
    .describe("Longest time between two reports of the node's own code. Default none."),
  queueTimeoutSeconds: whole(queueTimeoutSeconds)
    .optional()
    .describe('Longest time that the node waits for an engine or a place. Default none.'),
  timeoutSeconds: whole(timeoutSeconds).optional().describe('Longest time of one attempt. Default 86400.'),
  allowFailure: z.boolean().optional().describe('True: failing does not fail the run. Default false.'),
  cleanup: z.boolean().optional().describe('True: runs also when the run is stopped. Default false.'),
});

const pipelineFields = {
  name: name.describe('Name of the pipeline.'),
  description: z.string().optional(),
  input: z
    .strictObject({ schema: z.looseObject({}).describe('A JSON Schema (2020-12) without references to others.') })
    .optional()
    .describe('What the input of a run has to be; it is checked when a run is started. Default anything.'),
  concurrency: z
    .strictObject({
      maxActiveRuns: whole(maxActiveRuns).optional().describe('Runs that are active at once. Default no limit.'),
      onOverlap: z
        .enum(OVERLAP_POLICIES)
        .optional()
        .describe('What becomes of a start while as many runs are active as may be. Default queue.'),
    })
    .optional(),
  timeoutSeconds: whole(timeoutSeconds).optional().describe('Longest time of a run. Default none.'),
  failFast: z.boolean().optional().describe('True: the first bad node stops the rest. Default false.'),
  events: z.enum(['run', 'nodes']).optional().describe('How much RunChanged says when nobody watches. Default run.'),
  retainDays: whole(retainDays).optional().describe('Days that a finished run is kept. Default 90.'),
  defaults: z
    .strictObject({ retry: retrySchema.optional(), timeoutSeconds: whole(timeoutSeconds).optional() })
    .optional()
    .describe('Taken by nodes that do not say otherwise.'),
  output: z.unknown().optional().describe("The run's output. Texts {% … %} inside are JSONata."),
};

const outline = z.strictObject({
  ...pipelineFields,
  schedule: z.array(z.unknown()).max(DEFINITION_LIMITS.scheduleEntries).optional(),
  nodes: z.array(z.unknown()),
});

/** The shape of a pipeline definition, from which the published JSON Schema is written. */
export const pipelineSchema = z
  .strictObject({
    ...pipelineFields,
    schedule: z
      .array(scheduleEntrySchema)
      .max(DEFINITION_LIMITS.scheduleEntries)
      .optional()
      .describe('When runs start by themselves. Default never.'),
    nodes: z.array(nodeSchema).min(1).max(DEFINITION_LIMITS.nodes),
  })
  .meta({ title: 'Millrace pipeline', description: 'A DAG of nodes that Millrace runs.' });

/** What {@link parseDefinition} found: the definition, or all that is wrong with it. */
export type DefinitionResult =
  | { readonly ok: true; readonly definition: PipelineDefinition }
  | { readonly ok: false; readonly errors: readonly DefinitionError[] };

/**
 * Checks a value from outside and gives the definition that it is: a plain copy, nothing added, nothing left out.
 * All errors are found at once. Takes time linear in nodes and edges, whatever the graph looks like.
 */
export function parseDefinition(value: unknown): DefinitionResult {
  const errors = new ErrorList();
  const unreadable = new ErrorList();
  const json = readJson(value, unreadable);
  if (json === undefined) return { ok: false, errors: unreadable.list() };
  checkShape(json, { outline, scheduleEntry: scheduleEntrySchema, node: nodeSchema }, errors);
  const nodes = listOfNodes(json);
  const graph = checkGraph(nodes, errors);
  checkExpressions(json, nodes, graph, errors);
  checkLambdaNodes(nodes, errors);
  checkEnginelessNodes(nodes, errors);
  checkPipelineNodes(json, nodes, errors);
  checkSchedule(memberOf(json, 'schedule'), errors);
  const inputSchema = memberOf(memberOf(json, 'input'), 'schema');
  if (isJsonObject(inputSchema)) checkInputSchema(inputSchema, errors);
  errors.merge(unreadable.list());
  checkSize(json, errors);
  // The checks above are what makes this JSON a definition; a schema's own output would lose `__proto__` keys.
  return errors.isEmpty
    ? { ok: true, definition: json as unknown as PipelineDefinition }
    : { ok: false, errors: errors.list() };
}

function listOfNodes(json: Json): readonly Json[] {
  const nodes = memberOf(json, 'nodes');
  return Array.isArray(nodes) ? nodes.slice(0, DEFINITION_LIMITS.nodes) : [];
}

function checkSize(json: Json, errors: ErrorList): void {
  const limit = DEFINITION_LIMITS.definitionBytes;
  const bytes = new TextEncoder().encode(JSON.stringify(json)).length;
  if (bytes <= limit) return;
  const message = `the definition has ${bytes} bytes as JSON`;
  errors.add({ at: [], code: 'TOO_LARGE', message, value: bytes, allowed: `at most ${limit} bytes` });
}
