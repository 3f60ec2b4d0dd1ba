/**
 * Pipelines in DynamoDB: a head that changes under a condition on its version, definitions that never change, one
 * entry per incarnation and revision, and a row for each engine that a pipeline uses. A definition belongs to its name and revision alone, so that a run finds it
 * after its pipeline was made anew.
 */
import * as z from 'zod';
import type { PipelineDefinition } from '#domain/definition.ts';
import { HEAD_SCHEMA_VERSION, type PipelineHead } from '#domain/pipeline-head.ts';
import {
  DamagedPipelineError,
  NewerPipelineError,
  packHead,
  readableHead,
  unpackHead,
} from '#domain/pipeline-head-codec.ts';
import type { PipelineStore, RevisionEntry } from '#ports/index.ts';
import { deflateText, inflateText } from './deflated-text.ts';
import { DamagedTextError, readText, storedTextFields, storeText } from './stored-text.ts';
import type { Item, Table } from './table.ts';
import {
  definitionSortKey,
  dueShardOf,
  HEADS_PARTITION,
  pipelinePartition,
  revisionPrefix,
  usesPartition,
} from './table-keys.ts';

const headItem = z.object({
  sk: z.string(),
  version: z.int().positive(),
  c: z.int().positive(),
  b: z.instanceof(Uint8Array),
  da: z.number().optional(),
});

const headVersion = z.object({ sk: z.string(), c: z.int().positive() });

const namedItem = z.object({ sk: z.string() });

const revisionItem = z.object({ revision: z.string(), createdAt: z.number() });

/** Enough to tell a definition from something else; it was checked in full before it was put. */
const storedDefinition = z.looseObject({
  name: z.string(),
  nodes: z.array(z.looseObject({ id: z.string() })),
});

/** Makes the store of pipelines. */
export function createDynamoPipelineStore(table: Table): PipelineStore {
  return { ...heads(table), ...revisions(table), ...uses(table) };
}

function heads(table: Table): Pick<PipelineStore, 'readHead' | 'commitHead' | 'removeHead' | 'listHeads'> {
  return {
    async readHead(name) {
      const item = await table.get({ pk: HEADS_PARTITION, sk: name });
      return item === undefined ? undefined : fromHeadItem(name, item);
    },
    async commitHead(head, expectedVersion) {
      const isCommitted = await table.putIf(
        toHeadItem(head),
        expectedVersion === 0
          ? { expression: 'attribute_not_exists(#pk)' }
          : {
              expression: '#version = :expected AND #c <= :known',
              values: { ':expected': expectedVersion, ':known': HEAD_SCHEMA_VERSION },
            },
      );
      return isCommitted ? 'committed' : 'conflict';
    },
    async removeHead(name, expectedVersion) {
      const isRemoved = await table.removeIf(
        { pk: HEADS_PARTITION, sk: name },
        { expression: '#version = :expected', values: { ':expected': expectedVersion } },
      );
      return isRemoved ? 'committed' : 'conflict';
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
          const { sk } = namedItem.parse(item);
          const head = readableHead(() => fromHeadItem(sk, item));
          if (!head) continue;
          const last = items.at(-1)?.name;
          if (items.length === limit) return last === undefined ? { items } : { items, last };
          items.push(head);
        }
      }
      return { items };
    },
  };
}

function revisions(table: Table): Pick<PipelineStore, 'putDefinition' | 'readDefinition' | 'listRevisions'> {
  return {
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
      try {
        return parseDefinition(await readText(table, pk, storedTextFields.parse(item)));
      } catch (error) {
        if (!DAMAGES.some((type) => error instanceof type)) throw error;
        throw new DamagedPipelineError(name, `its revision ${revision} cannot be read`, error);
      }
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

function uses(table: Table): Pick<PipelineStore, 'putUse' | 'removeUse' | 'listUses'> {
  return {
    async putUse(engine, pipeline, version) {
      await table.putIf(
        { pk: usesPartition(engine), sk: pipeline, version },
        { expression: 'attribute_not_exists(#pk) OR #version < :version', values: { ':version': version } },
      );
    },
    async removeUse(engine, pipeline, version) {
      await table.removeIf(
        { pk: usesPartition(engine), sk: pipeline },
        { expression: '#version <= :version', values: { ':version': version } },
      );
    },
    async listUses(engine, limit, after) {
      const items: string[] = [];
      const pages = table.query({
        expression: after === undefined ? '#pk = :uses' : '#pk = :uses AND #sk > :after',
        values: { ':uses': usesPartition(engine), ...(after !== undefined && { ':after': after }) },
        pageSize: limit + 1,
      });
      for await (const page of pages) {
        for (const item of page) {
          const last = items.at(-1);
          if (items.length === limit) return last === undefined ? { items } : { items, last };
          items.push(namedItem.parse(item).sk);
        }
      }
      return { items };
    },
  };
}

function toHeadItem(head: PipelineHead): Item {
  const { name, schemaVersion, version, dueAt, body } = packHead(head);
  return {
    pk: HEADS_PARTITION,
    sk: name,
    version,
    c: schemaVersion,
    b: deflateText(body),
    ...(dueAt !== undefined && { ds: dueShardOf(name), da: dueAt }),
  };
}

function fromHeadItem(name: string, item: unknown): PipelineHead {
  const newer = headVersion.safeParse(item);
  if (newer.success && newer.data.c > HEAD_SCHEMA_VERSION) throw new NewerPipelineError(name, newer.data.c);
  const parsed = headItem.safeParse(item);
  if (!parsed.success) {
    throw new DamagedPipelineError(name, 'its item lacks an attribute or has a wrong one', parsed.error);
  }
  const { version, c, b, da } = parsed.data;
  const body = inflateBody(name, b);
  return unpackHead({ name, version, schemaVersion: c, body, ...(da !== undefined && { dueAt: da }) });
}

function inflateBody(name: string, body: Uint8Array): string {
  try {
    return inflateText(body);
  } catch (cause) {
    throw new DamagedPipelineError(name, 'its state cannot be inflated', cause);
  }
}

/** The schema only judges: its output would lose keys such as `__proto__`. */
/** What reading a stored definition throws where it is not what was put. */
const DAMAGES = [DamagedTextError, z.ZodError, SyntaxError];

function parseDefinition(text: string): PipelineDefinition {
  const value: unknown = JSON.parse(text);
  storedDefinition.parse(value);
  return value as PipelineDefinition;
}
