/**
 * Puts a pipeline: the definition is stored first, under its revision, and exists once the head names it. Then the
 * change is published.
 */
import type { PipelineDefinition } from '#domain/definition.ts';
import type { Json } from '#domain/json.ts';
import type { PipelineHead } from '#ports/index.ts';
import type { PassDeps } from './deps.ts';

/** Changes of others that one put steps over, before it gives up. */
const MAX_TRIES = 5;

/** A definition to be put. */
export interface PutRequest {
  readonly definition: PipelineDefinition;
  /** Content hash of the definition. */
  readonly revision: string;
  /** Revisions one of which has to be the present one; `*` is any. @default no condition */
  readonly ifMatch?: readonly string[] | undefined;
}

/** What became of it. `mismatch`: another revision is there than the one expected, or none. */
export type PutOutcome =
  | { readonly kind: 'created' | 'changed' | 'unchanged'; readonly head: PipelineHead }
  | { readonly kind: 'mismatch'; readonly head?: PipelineHead }
  | { readonly kind: 'busy' };

/**
 * Puts a definition under the name that it carries.
 * @throws whatever a port throws; the put may then be repeated
 */
export async function putPipeline(
  deps: Pick<PassDeps, 'pipelines' | 'bus' | 'clock' | 'ids'>,
  request: PutRequest,
): Promise<PutOutcome> {
  const { definition, revision } = request;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const head = await deps.pipelines.readHead(definition.name);
    if (!isExpected(head, request.ifMatch)) return { kind: 'mismatch', ...(head && { head }) };
    if (head?.revision === revision) {
      // Said again, since the put that made this revision may have died before it was published.
      await publish(deps, head);
      return { kind: 'unchanged', head };
    }
    const next = nextHead(deps, definition.name, revision, head);
    await deps.pipelines.putDefinition(next.name, next.incarnation, revision, definition, next.updatedAt);
    if ((await deps.pipelines.commitHead(next, head?.version ?? 0)) === 'conflict') continue;
    await publish(deps, next);
    return { kind: head ? 'changed' : 'created', head: next };
  }
  return { kind: 'busy' };
}

function isExpected(head: PipelineHead | undefined, ifMatch: readonly string[] | undefined): boolean {
  if (!ifMatch) return true;
  return head !== undefined && (ifMatch.includes('*') || ifMatch.includes(head.revision));
}

function nextHead(
  deps: Pick<PassDeps, 'clock' | 'ids'>,
  name: string,
  revision: string,
  head: PipelineHead | undefined,
): PipelineHead {
  const now = deps.clock.now();
  return {
    name,
    incarnation: head?.incarnation ?? deps.ids.nonce(),
    revision,
    version: (head?.version ?? 0) + 1,
    createdAt: head?.createdAt ?? now,
    updatedAt: now,
  };
}

async function publish(deps: Pick<PassDeps, 'bus'>, head: PipelineHead): Promise<void> {
  const detail: Json = {
    schemaVersion: 1,
    hops: 1,
    pipeline: head.name,
    revision: head.revision,
    version: head.version,
  };
  await deps.bus.publish([{ source: 'millrace.api', detailType: 'PipelineChanged', detail }]);
}
