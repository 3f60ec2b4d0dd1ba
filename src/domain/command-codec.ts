/** What users asked of a run and its nodes, as parts of a stored run. */
import * as z from 'zod';
import { type ApprovalAnswer, MARK_STATES, type NodeMark, type RunRecord } from './run.ts';

const index = z.int().nonnegative();
const text = z.string().optional();

/** The schemas of the parts: an answer to an approval, a mark, the order to delete the run. Times are since its creation. */
export const packedAnswer = z.strictObject({ t: z.number(), y: z.boolean(), o: text, b: text, c: text });
export const packedMark = z.strictObject({
  n: index,
  s: z.enum(MARK_STATES),
  t: z.number(),
  o: text,
  b: text,
  c: text,
});
export const packedDeletion = z.strictObject({ t: z.number(), b: text });

/** Writes an answer; `created` is the run's creation (ms since the epoch), here and below. */
export function packAnswer(answer: ApprovalAnswer, created: number): z.input<typeof packedAnswer> {
  const { at, approve, output: o, by: b, comment: c } = answer;
  return { t: at - created, y: approve, o, b, c };
}

/** Reads an answer. */
export function unpackAnswer({ t, y, o, b, c }: z.output<typeof packedAnswer>, created: number): ApprovalAnswer {
  return {
    at: t + created,
    approve: y,
    ...(o !== undefined && { output: o }),
    ...(b !== undefined && { by: b }),
    ...(c !== undefined && { comment: c }),
  };
}

/** Writes a mark. */
export function packMark({ node, state, at, output, by, note }: NodeMark, created: number): z.input<typeof packedMark> {
  return { n: node, s: state, t: at - created, o: output, b: by, c: note };
}

/** Reads a mark. */
export function unpackMark({ n, s, t, o, b, c }: z.output<typeof packedMark>, created: number): NodeMark {
  return {
    node: n,
    state: s,
    at: t + created,
    ...(o !== undefined && { output: o }),
    ...(b !== undefined && { by: b }),
    ...(c !== undefined && { note: c }),
  };
}

type Deletion = NonNullable<RunRecord['deleted']>;

/** Writes the order to delete a run. */
export function packDeletion({ at, by }: Deletion, created: number): z.input<typeof packedDeletion> {
  return { t: at - created, b: by };
}

/** Reads the order to delete a run. */
export function unpackDeletion({ t, b }: z.output<typeof packedDeletion>, created: number): Deletion {
  return { at: t + created, ...(b !== undefined && { by: b }) };
}
