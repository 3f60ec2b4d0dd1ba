/**
 * The pipeline store in memory: the exact twin of the DynamoDB one. Heads are kept as packed texts, so that nothing
 * passes here that the stored form would lose.
 */
import type { PipelineDefinition } from '#domain/definition.ts';
import { HEAD_SCHEMA_VERSION } from '#domain/pipeline-head.ts';
import { type PackedHead, packHead, readableHead, unpackHead } from '#domain/pipeline-head-codec.ts';
import type { PipelineStore, RevisionEntry } from '#ports/index.ts';
import { DueMap } from './memory-due-index.ts';

/** A memory pipeline store, and what a test may look at or damage. */
export interface MemoryPipelineStore extends PipelineStore {
  /** The stored heads, by name. */
  readonly stored: DueMap<PackedHead>;
  /** Names of the pipelines that use an engine, by engine, each with the version of its row. */
  readonly uses: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** Makes an empty store. */
export function createMemoryPipelineStore(): MemoryPipelineStore {
  const stored = new DueMap<PackedHead>();
  const uses = new Map<string, Map<string, number>>();
  return { stored, uses, ...heads(stored), ...revisionsOfPipelines(), ...usesOfEngines(uses) };
}

function heads(
  stored: Map<string, PackedHead>,
): Pick<PipelineStore, 'readHead' | 'commitHead' | 'removeHead' | 'listHeads'> {
  return {
    async readHead(name) {
      const known = stored.get(name);
      return known && unpackHead(known);
    },
    async commitHead(head, expectedVersion) {
      const known = stored.get(head.name);
      if ((known?.version ?? 0) !== expectedVersion) return 'conflict';
      if (known && known.schemaVersion > HEAD_SCHEMA_VERSION) return 'conflict';
      stored.set(head.name, packHead(head));
      return 'committed';
    },
    async removeHead(name, expectedVersion) {
      if (stored.get(name)?.version !== expectedVersion) return 'conflict';
      stored.delete(name);
      return 'committed';
    },
    async listHeads(limit, after) {
      const packed = [...stored.values()].filter(({ name }) => after === undefined || name > after);
      packed.sort((a, b) => (a.name < b.name ? -1 : 1));
      const readable = packed.flatMap((one) => readableHead(() => unpackHead(one)) ?? []);
      const items = readable.slice(0, limit);
      const last = items.at(-1)?.name;
      return readable.length > items.length && last !== undefined ? { items, last } : { items };
    },
  };
}

function revisionsOfPipelines(): Pick<PipelineStore, 'putDefinition' | 'readDefinition' | 'listRevisions'> {
  const definitions = new Map<string, PipelineDefinition>();
  const revisions = new Map<string, RevisionEntry[]>();
  return {
    async putDefinition(name, incarnation, revision, definition, now) {
      definitions.set(`${name}/${revision}`, structuredClone(definition));
      const key = `${name}/${incarnation}`;
      const known = revisions.get(key) ?? [];
      if (!known.some((entry) => entry.revision === revision))
        revisions.set(key, [{ revision, createdAt: now }, ...known]);
    },
    async readDefinition(name, revision) {
      return definitions.get(`${name}/${revision}`);
    },
    async listRevisions(name, incarnation) {
      return revisions.get(`${name}/${incarnation}`) ?? [];
    },
  };
}

function usesOfEngines(
  uses: Map<string, Map<string, number>>,
): Pick<PipelineStore, 'putUse' | 'removeUse' | 'listUses'> {
  return {
    async putUse(engine, pipeline, version) {
      const ofEngine = uses.get(engine) ?? new Map<string, number>();
      uses.set(engine, ofEngine);
      ofEngine.set(pipeline, Math.max(version, ofEngine.get(pipeline) ?? 0));
    },
    async removeUse(engine, pipeline, version) {
      const known = uses.get(engine)?.get(pipeline);
      if (known !== undefined && known <= version) uses.get(engine)?.delete(pipeline);
    },
    async listUses(engine, limit, after) {
      const names = [...(uses.get(engine)?.keys() ?? [])].sort().filter((name) => after === undefined || name > after);
      const items = names.slice(0, limit);
      const last = items.at(-1);
      return names.length > items.length && last !== undefined ? { items, last } : { items };
    },
  };
}
