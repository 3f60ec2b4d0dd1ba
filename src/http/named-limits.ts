/** Engines and pools in lists: limits by name, those that are not set left out. */
import { NAME_PATTERN } from '#domain/definition-schema.ts';
import type { LimitKind, LimitRecord } from '#domain/limit.ts';
import { MAX_PAGE_BYTES } from './page-filling.ts';
import { ApiProblem } from './problem.ts';
import type { ApiDeps } from './route.ts';

/** What {@link NAME_PATTERN} takes, for people. */
const NAME_ALLOWED = '1 to 128 letters, digits, ".", "_" and "-", beginning with a letter or a digit';

/**
 * Refuses a name in an address that nothing can have.
 * @throws ApiProblem INVALID_REQUEST
 */
export function checkName(name: string): void {
  if (NAME_PATTERN.test(name)) return;
  const message = `a name is ${NAME_ALLOWED}`;
  const errors = [{ path: 'name', code: 'INVALID_FIELD', message, value: name.slice(0, 200), allowed: NAME_ALLOWED }];
  throw new ApiProblem('INVALID_REQUEST', `name: ${message}.`, { errors });
}

/** A page of a list. */
export interface NamedQuery<View> {
  readonly limit: number;
  /** The last name of the page before. */
  readonly after?: string | undefined;
  /** The view of a limit; nothing for one that is not to be listed. */
  readonly view: (limit: LimitRecord) => View | undefined;
  /** What stands in no store, in any order. */
  readonly others?: readonly View[];
}

/** Lists limits of a kind by name; `last` is the name to go on after, and absent on the last page. */
export async function listNamed<View extends { readonly name: string }>(
  deps: Pick<ApiDeps, 'limits'>,
  kind: LimitKind,
  { limit, after, view, others = [] }: NamedQuery<View>,
): Promise<{ readonly items: readonly View[]; readonly last?: string }> {
  const found: View[] = [];
  let place = after;
  let isAtEnd = false;
  while (!isAtEnd && found.length <= limit) {
    const page = await deps.limits.listLimits(kind, limit, place);
    found.push(...page.items.flatMap((one) => view(one) ?? []));
    place = page.last;
    isAtEnd = place === undefined;
  }
  const isBefore = ({ name }: View) => isAtEnd || name <= (found.at(-1)?.name ?? '');
  const extra = others.filter((one) => (after === undefined || one.name > after) && isBefore(one));
  const all = [...found, ...extra].sort((one, other) => (one.name < other.name ? -1 : 1));
  const items = fitting(all.slice(0, limit));
  const last = items.at(-1)?.name;
  return items.length < all.length && last !== undefined ? { items, last } : { items };
}

function fitting<View>(views: readonly View[]): readonly View[] {
  let bytes = 0;
  const end = views.findIndex((view, at) => {
    bytes += Buffer.byteLength(JSON.stringify(view));
    return at > 0 && bytes > MAX_PAGE_BYTES;
  });
  return end === -1 ? views : views.slice(0, end);
}
