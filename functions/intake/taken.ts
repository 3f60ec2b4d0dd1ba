import type { FieldProblem } from '#http/problem.ts';
import type { EventHead, Refusal } from './take-message.ts';

/** What became of a request. `again`: not now, but the same message may well be taken later. */
export type Taken =
  | { readonly kind: 'done'; readonly head: EventHead; readonly run?: string }
  | { readonly kind: 'own'; readonly head: EventHead }
  | { readonly kind: 'again'; readonly head: EventHead; readonly message: string }
  | { readonly kind: 'refused'; readonly head: EventHead; readonly refusal: Refusal };

/** A request that is refused for good. */
export function refused(
  head: EventHead,
  code: string,
  message: string,
  errors: readonly FieldProblem[] = [],
): Extract<Taken, { kind: 'refused' }> {
  return { kind: 'refused', head, refusal: { code, message, ...(errors.length > 0 && { errors }) } };
}
