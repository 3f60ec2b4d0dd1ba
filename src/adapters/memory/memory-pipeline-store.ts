import type { PipelineDefinition } from '#domain/definition.ts';
import type { PipelineHead, PipelineStore, RevisionEntry } from '#ports/index.ts';

/** The pipeline store in memory, the exact twin of the DynamoDB one. */
export function createMemoryPipelineStore(): PipelineStore {
  const heads = new Map<string, PipelineHead>();
  const definitions = new Map<string, PipelineDefinition>();
  const revisions = new Map<string, RevisionEntry[]>();
  return {
    async readHead(name) {
      return heads.get(name);
    },
    async commitHead(head, expectedVersion) {
      if ((heads.get(head.name)?.version ?? 0) !== expectedVersion) return 'conflict';
      heads.set(head.name, structuredClone(head));
      return 'committed';
    },
    async listHeads(limit, after) {
      const names = [...heads.keys()].sort().filter((name) => after === undefined || name > after);
      const items = names.slice(0, limit).map((name) => heads.get(name) as PipelineHead);
      const last = items.at(-1)?.name;
      return names.length > items.length && last !== undefined ? { items, last } : { items };
    },
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
