import type { Draft } from './draft.ts';
import { type Evaluation, evaluationKey, type Wanted } from './facts.ts';

/**
 * The evaluation asked for, if this step has it; else it is put on the list of what is wanted.
 * @param at what `$now()` answers, the present time unless the attempt has begun (ms since the epoch)
 */
export function evaluated(
  draft: Draft,
  what: Wanted['what'],
  about: { readonly node: number; readonly item?: number | undefined; readonly attempt: number },
  at: number = draft.now,
): Evaluation | undefined {
  const { node, item, attempt } = about;
  const key = evaluationKey(what, node, attempt, item);
  const known = draft.facts.evaluations?.get(key);
  if (known) return known;
  if (draft.facts.evaluationsClosed) draft.again = true;
  else draft.wanted.push({ key, what, node, item, attempt, at });
  return undefined;
}
