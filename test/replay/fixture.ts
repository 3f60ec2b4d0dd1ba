/** Items of the table as a version of the code left them, and what they mean. */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { LIMIT_SCHEMA_VERSION } from '#domain/limit.ts';
import { HEAD_SCHEMA_VERSION } from '#domain/pipeline-head.ts';
import { RUN_SCHEMA_VERSION } from '#domain/run.ts';

/** The moment at which everything was saved (ms since the epoch). */
export const SAVED_AT = Date.UTC(2026, 10, 30, 9, 0, 0, 456);

/** Number of the layout that today's code writes: the highest of its schema numbers. */
export const PRESENT_LAYOUT = Math.max(RUN_SCHEMA_VERSION, LIMIT_SCHEMA_VERSION, HEAD_SCHEMA_VERSION);

/** The schema of a {@link SavedItem}. */
export const savedItem = z.record(
  z.string(),
  z.object({
    S: z.string().optional(),
    N: z.string().optional(),
    B: z.string().optional(),
    BOOL: z.boolean().optional(),
    SS: z.array(z.string()).optional(),
  }),
);

const savedCall = z.object({
  port: z.enum(['runs', 'limits', 'pipelines', 'memo', 'reports', 'startCounts', 'live', 'due']),
  call: z.string(),
  with: z.array(z.unknown()),
  gives: z.unknown().optional(),
});

const fixture = z.object({
  about: z.string(),
  writes: z.array(savedCall.omit({ gives: true })),
  items: z.array(savedItem).min(1),
  reads: z.array(savedCall).min(1),
});

/** An item with its attributes in DynamoDB's own form, bytes in base64. */
export type SavedItem = z.output<typeof savedItem>;

/** A call on a port, and what it gave; a call that gave nothing has no `gives`. */
export type SavedCall = z.output<typeof savedCall>;

/**
 * What is saved: the calls that wrote it (none where it was made by hand), the items, and the calls that read it with what
 * they give, for ever.
 */
export type Fixture = z.output<typeof fixture>;

/** Folder of a layout's fixtures. */
export function layoutFolder(layout: number): string {
  return join(import.meta.dirname, `v${layout}`);
}

/** All fixtures, oldest layout first. */
export async function readFixtures(): Promise<{ layout: number; name: string; saved: Fixture }[]> {
  const all = [];
  for (let layout = 1; layout <= PRESENT_LAYOUT; layout++) {
    await mkdir(layoutFolder(layout), { recursive: true });
    const files = (await readdir(layoutFolder(layout))).filter((file) => file.endsWith('.json'));
    for (const file of files.sort()) {
      // What a schema makes of an object would lose keys such as `__proto__`, so it only judges.
      const saved: unknown = JSON.parse(await readFile(join(layoutFolder(layout), file), 'utf8'));
      fixture.parse(saved);
      all.push({ layout, name: file.replace(/\.json$/, ''), saved: saved as Fixture });
    }
  }
  return all;
}

/** What newer code might have made of an item: a higher number, and a body that nobody here can read. */
export function madeNewer(item: SavedItem): SavedItem {
  return { ...item, c: { N: String(Number(item['c']?.N) + 1) }, b: { S: 'a layout of the future' } };
}
