/** What the API says of itself. */
import * as z from 'zod';
import { instant } from './field-schemas.ts';

/** That the API answers. */
export const healthSchema = z
  .strictObject({ status: z.literal('ok'), installation: z.string(), time: instant })
  .meta({ id: 'Health' });
