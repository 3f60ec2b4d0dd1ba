/** The reference of definitions has every field, with the range and the default that the code knows, and no other. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { pipelineJsonSchema } from '#authoring/pipeline-json-schema.ts';
import { DEFINITION_LIMITS, type NodeDefinition, OVERLAP_POLICIES } from '#domain/definition.ts';
import { compilePipeline } from '#domain/graph.ts';
import { columnOf, type Row, readPage, tableRows } from './docs-pages.ts';

const page = readPage('docs/reference/definition.md');

const property = z.object({ minimum: z.number().optional(), maximum: z.number().optional() });
const objectSchema = z.object({
  properties: z.record(z.string(), z.unknown()),
  required: z.array(z.string()).default([]),
});
type ObjectSchema = z.output<typeof objectSchema>;

function within(schema: ObjectSchema, ...path: readonly string[]): ObjectSchema {
  const [first, ...rest] = path;
  if (first === undefined) return schema;
  const inner = schema.properties[first] as { items?: unknown };
  return within(objectSchema.parse(inner.items ?? inner), ...rest);
}

const pipeline = objectSchema.parse(pipelineJsonSchema());
const tables: { heading: string; schema: ObjectSchema }[] = [
  { heading: 'Fields of a pipeline', schema: pipeline },
  { heading: 'schedule', schema: within(pipeline, 'schedule') },
  { heading: 'concurrency', schema: within(pipeline, 'concurrency') },
  { heading: 'retry', schema: within(pipeline, 'nodes', 'retry') },
  { heading: 'map', schema: within(pipeline, 'nodes', 'map') },
  { heading: 'cache', schema: within(pipeline, 'nodes', 'cache') },
];

/** The section of nodes holds those of their parts; its own table is the first one. */
function nodeRows(): Row[] {
  const rows = tableRows(page, 'Fields of a node').filter((row) => row.has('field'));
  return rows.slice(
    0,
    rows.findIndex((row) => row.get('field') === 'maxAttempts'),
  );
}

describe.each([
  ...tables.map(({ heading, schema }) => ({
    heading,
    schema,
    rows: tableRows(page, heading).filter((row) => row.has('field')),
  })),
  { heading: 'Fields of a node', schema: within(pipeline, 'nodes'), rows: nodeRows() },
])('the table "$heading"', ({ schema, rows }) => {
  it('has the fields of the schema, each once', () => {
    expect(rows.map((row) => row.get('field')).sort()).toEqual(Object.keys(schema.properties).sort());
  });

  it('says which of them are needed', () => {
    const needed = rows.filter((row) => row.get('default') === 'needed').map((row) => row.get('field'));
    expect(needed.sort()).toEqual([...schema.required].sort());
  });

  it('has their ranges', () => {
    for (const row of rows) {
      const { minimum, maximum } = property.parse(schema.properties[row.get('field') as string]);
      if (minimum === undefined || maximum === undefined) continue;
      expect(row.get('value')).toContain(`${minimum} to ${maximum}`);
    }
  });
});

describe('defaults', () => {
  const node: NodeDefinition = { id: 'a', retry: {}, map: { items: [] }, cache: { key: 1 } };
  const compiled = compilePipeline({ name: 'p', schedule: [{ rate: '1 hour' }], nodes: [node] }, 'r');
  const known = compiled.nodes[0] as (typeof compiled.nodes)[number];
  const tellingDefaults: [heading: string, values: object][] = [
    ['Fields of a pipeline', { failFast: compiled.failFast, timeoutSeconds: 'none' }],
    ['concurrency', { maxActiveRuns: compiled.maxActiveRuns ?? 'none', onOverlap: compiled.onOverlap }],
    ['retry', known.retry],
    ['map', { ...known.map, items: 'needed' }],
    ['cache', { key: 'needed', ttlSeconds: (known.cache?.ttlMs ?? 0) / 1000 }],
  ];

  it.each(tellingDefaults)('of %s are those of the code', (heading, values) => {
    const rows = new Map(tableRows(page, heading).map((row) => [row.get('field'), row.get('default')]));
    for (const [field, value] of Object.entries(values)) {
      const shown = Array.isArray(value) ? `[${value.join(', ')}]` : String(value);
      expect(`${field}: ${rows.get(field)}`).toBe(`${field}: ${shown}`);
    }
  });

  it('of schedule entries are those of the code', () => {
    const rows = new Map(tableRows(page, 'schedule').map((row) => [row.get('field'), row.get('default')]));
    const [entry] = compiled.schedule as [(typeof compiled.schedule)[number]];
    expect(entry).toMatchObject({ id: '0', kind: 'rate', input: {} });
    expect([rows.get('id'), rows.get('input')]).toEqual(['its position', '{}']);
    const told = {
      timezone: entry.timezone,
      catchUp: entry.catchUp,
      catchUpWindowSeconds: entry.catchUpWindowMs / 1000,
    };
    for (const [field, value] of Object.entries(told))
      expect(`${field}: ${rows.get(field)}`).toBe(`${field}: ${value}`);
  });

  it('of nodes are those of the code', () => {
    const rows = new Map(nodeRows().map((row) => [row.get('field'), row.get('default')]));
    const { engine, trigger, allowFailure, timeoutMs, queueTimeoutMs, priority, cleanup, pool, heartbeatMs } = known;
    const told = { engine, trigger, allowFailure, timeoutSeconds: timeoutMs / 1000, priority, cleanup };
    for (const [field, value] of Object.entries(told))
      expect(`${field}: ${rows.get(field)}`).toBe(`${field}: ${value}`);
    expect([queueTimeoutMs, rows.get('queueTimeoutSeconds')]).toEqual([undefined, 'none']);
    expect([pool, heartbeatMs, rows.get('pool'), rows.get('heartbeatSeconds')]).toEqual([
      undefined,
      undefined,
      'none',
      'none',
    ]);
    expect([rows.get('dependsOn'), rows.get('params')]).toEqual(['[]', '{}']);
  });
});

it('has every overlap policy', () => {
  const policies = tableRows(page, 'concurrency').map((row) => row.get('onOverlap'));
  expect(policies.filter((policy) => policy !== undefined)).toEqual(OVERLAP_POLICIES);
});

it('names and ids are as long as they may be', () => {
  const text = columnOf(page, 'Names and ids', 'may be').join('\n');
  expect(text).toContain(`1 to ${DEFINITION_LIMITS.nameLength} of the characters`);
  expect(text).toContain(`1 to ${DEFINITION_LIMITS.idLength} characters`);
});
