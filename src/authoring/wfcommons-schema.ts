import * as z from 'zod';

/** The version of WfFormat that is read. */
export const WFFORMAT_VERSION = '1.5';

const id = z.string().min(1);

const task = z.looseObject({ id, name: z.string().min(1), parents: z.array(id), children: z.array(id) });

const record = z.looseObject({ id, runtimeInSeconds: z.number().min(0) });

/**
 * What the import reads of a WfFormat document. The format allows further fields everywhere; they say nothing about
 * order or run times and are passed over.
 */
export const wfcommonsSchema = z.looseObject({
  name: z.string().min(1),
  schemaVersion: z.literal(WFFORMAT_VERSION),
  workflow: z.looseObject({
    specification: z.looseObject({ tasks: z.array(task).min(1) }),
    execution: z.looseObject({ tasks: z.array(record).min(1) }),
  }),
});

/** A WfFormat document as far as the import reads it. */
export type WfcommonsDocument = z.infer<typeof wfcommonsSchema>;
