import type { LimitRecord } from '#domain/limit.ts';
import type { PassDeps } from './deps.ts';

/** Changes of others that one command steps over, before it gives up. */
const MAX_TRIES = 10;

/** What became of a rule. `unchanged`: the limit is as it should be, or there is none and should be none. */
export type RuledLimit =
  | { readonly kind: 'changed'; readonly limit: LimitRecord }
  | { readonly kind: 'unchanged'; readonly limit?: LimitRecord }
  | { readonly kind: 'busy' };

/**
 * Makes a limit what a rule says, and rings it. The rule has to leave the limit due, so that slots that came are granted
 * whatever becomes of the ring.
 * @param rule what to make of it; nothing where it is right as it is
 * @throws whatever a port throws; it may then be repeated
 */
export async function ruleLimit(
  deps: Pick<PassDeps, 'limits' | 'inbox'>,
  id: string,
  rule: (before: LimitRecord | undefined) => LimitRecord | undefined,
): Promise<RuledLimit> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = await deps.limits.readLimit(id);
    const ruled = rule(before);
    if (!ruled) return { kind: 'unchanged', ...(before && { limit: before }) };
    const rev = before?.rev ?? 0;
    const limit = { ...ruled, rev: rev + 1 };
    if ((await deps.limits.commitLimit(limit, rev)) === 'conflict') continue;
    await deps.inbox.ringThing({ kind: 'limit', id });
    return { kind: 'changed', limit };
  }
  return { kind: 'busy' };
}
