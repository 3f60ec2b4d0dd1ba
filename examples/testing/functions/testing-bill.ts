import { defineFunction } from 'millrace/function';
import { z } from 'zod';

const order = z.object({ total: z.number() });

/** Bills an order: here it only says so. */
export const handler = defineFunction((payload: unknown) => ({ billed: true, total: order.parse(payload).total }));
