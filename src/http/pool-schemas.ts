/** Pools, as they are set and shown. */
import * as z from 'zod';
import { MAX_SLOTS } from '#domain/limit.ts';
import { slotFields } from './slot-schemas.ts';

const slots = z.int().min(0).max(MAX_SLOTS).describe('Attempts that run with it at once; with 0 none begins.');

/** What sets the slots of a pool. */
export const poolRequestSchema = z.strictObject({ slots }).meta({ id: 'PoolRequest' });

const poolLine = { name: z.string(), slots, held: z.int().describe('Slots that are held.') };

/** A line of the list of pools. */
export const poolLineSchema = z.strictObject(poolLine).meta({ id: 'PoolLine' });

/** A pool. */
export const poolSchema = z.strictObject({ ...poolLine, ...slotFields }).meta({ id: 'Pool' });
