/** Live updates: the ticket that opens a connection, what a client says, and what it is told. */
import * as z from 'zod';
import { DEFINITION_LIMITS } from '#domain/definition.ts';
import { runChangedSchema } from './event-schemas.ts';
import { instant, nodeState, reason, runState } from './field-schemas.ts';
import { runLineSchema, runSchema } from './run-schemas.ts';

/** What lets its bearer open one connection. */
export const liveTicketSchema = z
  .strictObject({
    ticket: z.string().describe('Opens one connection, before it expires.'),
    url: z.string().describe('Address of the WebSocket; the ticket goes into its query.'),
    expiresAt: instant,
  })
  .meta({ id: 'LiveTicket' });

/** What a client says. */
export const liveMessageSchema = z.strictObject({
  action: z.enum(['subscribe', 'unsubscribe', 'ping']),
  run: z.string().optional().describe('Id of a run.'),
  pipeline: z.string().min(1).max(DEFINITION_LIMITS.nameLength).optional().describe('Name of a pipeline.'),
});

/** A message of a client. */
export type LiveMessage = z.output<typeof liveMessageSchema>;

const liveNode = z.strictObject({
  id: z.string(),
  state: nodeState,
  reason,
  attempt: z.int().optional().describe('Of a node with an attempt under way.'),
});

const truncated = z.literal(true).optional().describe('There is more than fits into a frame: read it over HTTP.');

/** What a client is told, by the field `type`. */
export const LIVE_FRAMES = {
  Snapshot: z.union([
    z.strictObject({
      type: z.literal('Snapshot'),
      run: z.looseObject(runSchema.omit({ input: true, output: true, outputRef: true }).partial({ tags: true }).shape),
      nodes: z.array(liveNode),
      truncated,
    }),
    z.strictObject({
      type: z.literal('Snapshot'),
      pipeline: z.string(),
      runs: z.array(runLineSchema).describe('Its newest runs.'),
      truncated,
    }),
  ]),
  RunChanged: z.strictObject({
    type: z.literal('RunChanged'),
    ...runChangedSchema.omit({ schemaVersion: true, hops: true }).shape,
  }),
  Unsubscribed: z.strictObject({
    type: z.literal('Unsubscribed'),
    run: z.string().optional(),
    pipeline: z.string().optional(),
  }),
  Pong: z.strictObject({
    type: z.literal('Pong'),
    runs: z
      .array(z.strictObject({ runId: z.string(), rev: z.int(), state: runState }))
      .describe('The runs that the connection looks at, as they are now.'),
  }),
  Error: z.strictObject({
    type: z.literal('Error'),
    code: z.string(),
    message: z.string(),
    run: z.string().optional(),
    pipeline: z.string().optional(),
    errors: z.array(z.looseObject({ path: z.string(), code: z.string(), message: z.string() })).optional(),
  }),
} as const;
