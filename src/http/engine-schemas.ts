/** Engines, as they are registered and shown. */
import * as z from 'zod';
import { MAX_SLOTS } from '#domain/limit.ts';
import { parseStateMachineArn, STATE_MACHINE_ARN_ALLOWED } from '#domain/state-machine-arn.ts';
import { instant, json } from './field-schemas.ts';
import { slotFields } from './slot-schemas.ts';

/** Most labels of an engine. */
export const MAX_LABELS = 20;

const labelsIn = z
  .record(
    z.string().regex(/^\P{C}{1,128}$/u, 'is 1 to 128 printable characters'),
    z.string().max(256, 'has at most 256 characters'),
  )
  .refine((labels) => Object.keys(labels).length <= MAX_LABELS, `has at most ${MAX_LABELS} labels`)
  .describe(`For people and programs: at most ${MAX_LABELS}, key and text. Default none.`);

/** What registers an engine. */
export const engineRequestSchema = z
  .strictObject({
    stateMachineArn: z
      .string()
      .refine(
        (arn) => parseStateMachineArn(arn) !== undefined,
        `must be the ARN of a state machine, ${STATE_MACHINE_ARN_ALLOWED}`,
      )
      .describe('A STANDARD state machine of the account and region of this installation.'),
    maxConcurrent: z
      .int()
      .min(1)
      .max(MAX_SLOTS)
      .optional()
      .describe('Attempts that run on it at once. Default no limit.'),
    labels: labelsIn.optional(),
    paramsSchema: z
      .record(z.string(), json)
      .optional()
      .describe('JSON Schema (2020-12) of the params of its nodes. Default any.'),
    heartbeatSeconds: z
      .int()
      .min(10)
      .max(86_400)
      .optional()
      .describe('It is Unavailable when its owner has not reported for so long. Default never.'),
  })
  .meta({ id: 'EngineRequest' });

const engineLine = {
  name: z.string(),
  builtIn: z.boolean().describe('It comes with the installation, and is always Available.'),
  generation: z.int().describe('How often an engine of this name was registered.'),
  stateMachineArn: z.string().optional().describe('Absent where the scheduler does the work itself.'),
  maxConcurrent: z.int().optional(),
  labels: z.record(z.string(), z.string()),
  status: z.enum(['Available', 'Draining', 'Unavailable']),
  reason: z.enum(['Ready', 'Drained', 'HeartbeatMissed', 'StateMachineGone']),
  message: z.string(),
  running: z.int().optional().describe('Slots that are held; only where `maxConcurrent` is set are there any.'),
  heartbeatSeconds: z.int().optional(),
  lastHeartbeatAt: instant.optional(),
};

/** A line of the list of engines. */
export const engineLineSchema = z.strictObject(engineLine).meta({ id: 'EngineLine' });

/** A line of the list of engines, read. */
export type EngineLine = z.output<typeof engineLineSchema>;

/** An engine. */
export const engineSchema = z
  .strictObject({
    ...engineLine,
    paramsSchema: json.optional().describe('JSON Schema of the params of its nodes.'),
    ...slotFields,
  })
  .meta({ id: 'Engine' });
