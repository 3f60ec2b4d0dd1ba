/** Query parameters that several routes have. */

import * as z from 'zod';
import { RUN_STATES } from '#domain/run.ts';
import { NODE_STATES } from './field-schemas.ts';
import { limitSchema } from './parameter-schemas.ts';
import type { QueryParameter } from './route.ts';

/** Entries of a page where the caller does not say. */
export const DEFAULT_LIMIT = 100;

/** Of every list. */
export const paging = {
  limit: { schema: limitSchema, description: `Entries of a page, 1 to 1000. Default ${DEFAULT_LIMIT}.` },
  cursor: { schema: z.string(), description: 'Goes on where a page ended: its `nextCursor`.' },
} as const satisfies Record<string, QueryParameter>;

/** Picks runs by state. */
export const runState: QueryParameter<(typeof RUN_STATES)[number][]> = {
  schema: z.array(z.enum(RUN_STATES)),
  description: 'Only those in one of these states.',
  repeatable: true,
};

/** Picks nodes by state. */
export const nodeState: QueryParameter<(typeof NODE_STATES)[number][]> = {
  schema: z.array(z.enum(NODE_STATES)),
  description: 'Only those in one of these states.',
  repeatable: true,
};
