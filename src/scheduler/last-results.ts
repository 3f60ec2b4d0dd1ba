/** The results that decided the nodes of a run, read as seldom as they can be. */
import type { AttemptResult } from '#domain/facts.ts';
import { byteOf } from '#domain/node-status.ts';
import { PAYLOAD_LIMITS } from '#domain/payload-ref.ts';
import { MARKED_ATTEMPT } from '#domain/run.ts';
import type { PassDeps } from './deps.ts';

/**
 * From how many results on, if they are at least half of a run's, all of the run are read together: small ones share a
 * read unit then, and a join over hundreds of nodes takes one call.
 */
const MANY_RESULTS = 4;

const MARKED = byteOf('M');

/** Reads results of one pass, each at most once. */
export interface LastResults {
  /** Says which results will be asked for, so that those of most of a run are read together. */
  expect(nodes: readonly number[]): Promise<void>;
  /** The result of a node's last attempt: the one that decided it. */
  of(node: number): Promise<AttemptResult | undefined>;
}

/** What there is to read. */
interface Source {
  readonly run: { readonly id: string; readonly nonce: string; readonly nodes: string };
  readonly results: readonly AttemptResult[];
}

/** Makes a reader; results that the pass has at hand are not read again. */
export function createLastResults(deps: PassDeps, { run, results }: Source): LastResults {
  const byNode = new Map<number, Promise<AttemptResult | undefined>>();
  for (const result of results) {
    if (result.status === 'SUCCEEDED' && result.item === undefined) byNode.set(result.node, Promise.resolve(result));
  }
  return {
    async expect(nodes) {
      const missing = nodes.filter((node) => !byNode.has(node));
      if (missing.length < MANY_RESULTS || missing.length < run.nodes.length / 2) return;
      const listed = await deps.runs.listResults(run, undefined, PAYLOAD_LIMITS.read);
      const ofNodes = listed.filter(({ item }) => item === undefined);
      const last = new Map(ofNodes.map((result) => [result.node, result]));
      const length = listed.reduce((sum, { output = '' }) => sum + output.length, 0);
      // Of a list that ended early, the last node may have more attempts, and those after it are read one by one.
      const end = length > PAYLOAD_LIMITS.read ? (listed.at(-1)?.node ?? 0) : Number.POSITIVE_INFINITY;
      for (const node of missing) if (node < end) byNode.set(node, Promise.resolve(last.get(node)));
    },
    of(node) {
      const known = byNode.get(node);
      if (known !== undefined) return known;
      // A map that was marked by hand has the results of its items beside.
      const isMarked = run.nodes.charCodeAt(node) === MARKED;
      const result = isMarked
        ? deps.runs.readResult(run, node, MARKED_ATTEMPT)
        : deps.runs.listResults(run, node).then((all) => all.at(-1));
      byNode.set(node, result);
      return result;
    },
  };
}
