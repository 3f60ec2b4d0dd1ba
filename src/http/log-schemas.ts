/** The log of an attempt, as the API shows it. */
import * as z from 'zod';
import { instant } from './field-schemas.ts';

/** A line of a log. */
export const logLineSchema = z
  .strictObject({ at: instant, message: z.string() })
  .meta({ id: 'LogLine', description: 'A line of a log.' });
