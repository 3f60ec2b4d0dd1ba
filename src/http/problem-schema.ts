/** Problems, as the API answers them. */
import * as z from 'zod';
import { json } from './field-schemas.ts';

/** A problem. */
export const problemSchema = z
  .strictObject({
    type: z.string().describe('Address of the documentation page of the code.'),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    detail: z.string(),
    errors: z
      .array(
        z.strictObject({
          path: z.string(),
          code: z.string(),
          message: z.string(),
          value: json.optional(),
          allowed: z.string().optional(),
          suggestion: z.string().optional(),
          line: z.int().optional(),
          column: z.int().optional(),
        }),
      )
      .readonly()
      .optional(),
    requestId: z.string(),
  })
  .meta({ id: 'Problem', description: 'RFC 9457.' });
