/**
 * Pipelines in DynamoDB: a head that changes under a condition on its version, definitions that never change, and one
 * entry per incarnation and revision. A definition belongs to its name and revision alone, so that a run finds it
 * after its pipeline was made anew.
 */
import * as z from 'zod';
import type { PipelineDefinition } from '#domain/definition.ts';
import type { PipelineHead, PipelineStore, RevisionEntry } from '#ports/index.ts';
import { readText, storedTextFields, storeText } from './stored-text.ts';
import type { Table } from './table.ts';
import { definitionSortKey, HEADS_PARTITION, pipelinePartition, revisionPrefix } from './table-keys.ts';

const headItem = z.object({
  sk: z.string(),
  incarnation: z.string(),
  revision: z.string(),
  version: z.int().positive(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

const revisionItem = z.object({ revision: z.string(), createdAt: z.number() });

/** Enough to tell a definition from something else; it was checked in full before it was put. */
const storedDefinition = z.looseObject({
  name: z.string(),
  nodes: z.array(z.looseObject({ id: z.string() })),
});

/** Makes the store of pipelines. */
export function createDynamoPipelineStore(table: Table): PipelineStore {
  return {
    async readHead(name) {
      const item = await table.get({ pk: HEADS_PARTITION, sk: name });
      return item === undefined ? undefined : fromHeadItem(item);
    },
    async commitHead(head, expectedVersion) {
      const { name, ...rest } = head;
      const isCommitted = await table.putIf(
        { pk: HEADS_PARTITION, sk: name, ...rest },
        expectedVersion === 0
          ? { expression: 'attribute_not_exists(#pk)' }
          : { expression: '#version = :expected', values: { ':expected': expectedVersion } },
      );
      return isCommitted ? 'committed' : 'conflict';
    },
    async listHeads(limit, after) {
      const items: PipelineHead[] = [];
      const pages = table.query({
        expression: after === undefined ? '#pk = :heads' : '#pk = :heads AND #sk > :after',
        values: { ':heads': HEADS_PARTITION, ...(after !== undefined && { ':after': after }) },
        pageSize: limit + 1,
      });
      for await (const page of pages) {
        for (const item of page) {
          const last = items.at(-1)?.name;
          if (items.length === limit) return last === undefined ? { items } : { items, last };
          items.push(fromHeadItem(item));
        }
      }
      return { items };
    },
    async putDefinition(name, incarnation, revision, definition, now) {
      const pk = pipelinePartition(name);
      const text = await storeText(table, pk, JSON.stringify(definition));
      await table.put({ pk, sk: definitionSortKey(revision), ...text });
      await table.putIf(
        { pk, sk: `${revisionPrefix(incarnation)}${revision}`, revision, createdAt: now },
        { expression: 'attribute_not_exists(#pk)' },
      );
    },
    async readDefinition(name, revision) {
      const pk = pipelinePartition(name);
      const item = await table.get({ pk, sk: definitionSortKey(revision) });
      if (item === undefined) return undefined;
      return parseDefinition(await readText(table, pk, storedTextFields.parse(item)));
    },
    async listRevisions(name, incarnation) {
      const entries: RevisionEntry[] = [];
      const pages = table.query({
        expression: '#pk = :pipeline AND begins_with(#sk, :prefix)',
        values: { ':pipeline': pipelinePartition(name), ':prefix': revisionPrefix(incarnation) },
      });
      for await (const page of pages) entries.push(...page.map((item) => revisionItem.parse(item)));
      return entries.sort((a, b) => b.createdAt - a.createdAt);
    },
  };
}

function fromHeadItem(item: unknown): PipelineHead {
  const { sk, ...rest } = headItem.parse(item);
  return { name: sk, ...rest };
}

/** The schema only judges: its output would lose keys such as `__proto__`. */
function parseDefinition(text: string): PipelineDefinition {
  const value: unknown = JSON.parse(text);
  storedDefinition.parse(value);
  return value as PipelineDefinition;
}
