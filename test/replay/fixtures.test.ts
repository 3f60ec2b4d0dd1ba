/** Saved items of every version of the code that was ever out there are read by today's, as what they were. */
import { gunzipSync, inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NewerLimitError } from '#domain/limit-codec.ts';
import { NewerPipelineError } from '#domain/pipeline-head-codec.ts';
import { NewerRunError } from '#domain/run-codec.ts';
import { startDynalite, type TableServer } from '../contract/tables.ts';
import { type Fixture, madeNewer, PRESENT_LAYOUT, readFixtures, type SavedCall, type SavedItem } from './fixture.ts';
import { LIMIT_SCENES } from './scenes/limits.ts';
import { PART_SCENES } from './scenes/parts.ts';
import { RUN_SCENES } from './scenes/runs.ts';
import { keyOf, openStoredTable } from './stored-table.ts';

const fixtures = await readFixtures();
const titled = fixtures.map(({ layout, name, saved }) => ({ title: `v${layout}/${name}`, layout, saved }));
const written = titled.filter(({ layout, saved }) => layout === PRESENT_LAYOUT && saved.writes.length > 0);

/** The item that has a number of its layout, in fixtures of one such item. */
const aggregateOf = ({ items }: Fixture) => items.find(({ c }) => c !== undefined);
const aggregates = titled.filter(({ layout, saved }) => layout === PRESENT_LAYOUT && aggregateOf(saved));

let server: TableServer;
beforeAll(async () => {
  server = await startDynalite();
});
afterAll(() => server.close());

/** As JSON, which is what is saved: what is not there and what is undefined are the same. */
const asJson = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

/** An item with its texts readable, since the bytes that a text deflates to are no part of the layout. */
function readable({ b, z, ...rest }: SavedItem) {
  return {
    ...rest,
    ...(b?.B !== undefined && { b: JSON.parse(inflateRawSync(Buffer.from(b.B, 'base64')).toString()) }),
    ...(b?.S !== undefined && { b }),
    ...(z?.B !== undefined && { z: gunzipSync(Buffer.from(z.B, 'base64')).toString() }),
  };
}

describe('what was saved', () => {
  it.each(titled)('$title is read as what it was', async ({ saved }) => {
    const table = await openStoredTable(server);
    await table.load(saved.items);
    for (const read of saved.reads) {
      expect(asJson(await table.call(read)), `${read.port}.${read.call}`).toEqual(read.gives);
    }
  });

  it.each(written)('$title is written in the same layout today, or the layout has a new number', async ({ saved }) => {
    const table = await openStoredTable(server);
    for (const write of saved.writes) await table.call(write);
    expect((await table.items()).map(readable)).toEqual(saved.items.map(readable));
  });

  it.each(written.filter(({ saved }) => aggregateOf(saved)))('$title lost nothing when it was saved', ({ saved }) => {
    expect(saved.reads[0]?.gives).toEqual(saved.writes[0]?.with[0]);
  });

  it('has every scene', () => {
    const present = fixtures.filter(({ layout }) => layout === PRESENT_LAYOUT).map(({ name }) => name);
    expect(present).toEqual(
      expect.arrayContaining([...RUN_SCENES, ...PART_SCENES, ...LIMIT_SCENES].map(({ name }) => name)),
    );
  });
});

/** How a read of an aggregate is refused, and how today's code would try to write over it. */
const REFUSALS = new Map<
  string,
  { error: new (...args: never[]) => Error; commits: (record: never) => Omit<SavedCall, 'gives'>[] }
>([
  [
    'readRun',
    {
      error: NewerRunError,
      commits: (run: { rev: number }) => [
        { port: 'runs', call: 'commitRun', with: [{ ...run, rev: run.rev + 1 }, run.rev] },
      ],
    },
  ],
  [
    'readLimit',
    {
      error: NewerLimitError,
      commits: (limit: { rev: number }) => [
        { port: 'limits', call: 'commitLimit', with: [{ ...limit, rev: limit.rev + 1 }, limit.rev] },
        { port: 'limits', call: 'commitLimit', with: [{ ...limit, rev: 1 }, 0] },
      ],
    },
  ],
  [
    'readHead',
    {
      error: NewerPipelineError,
      commits: (head: { version: number }) => [
        { port: 'pipelines', call: 'commitHead', with: [{ ...head, version: head.version + 1 }, head.version] },
        { port: 'pipelines', call: 'commitHead', with: [{ ...head, version: 1 }, 0] },
      ],
    },
  ],
]);

describe('what newer code wrote', () => {
  it.each(aggregates)('T35 $title is left alone', async ({ saved }) => {
    const table = await openStoredTable(server);
    const item = madeNewer(aggregateOf(saved) as SavedItem);
    await table.load([item]);
    const [read] = saved.reads as [SavedCall];
    const refusal = REFUSALS.get(read.call);
    if (!refusal) throw new Error(`${keyOf(item)} is read by ${read.call}, which has no number of a layout`);
    await expect(table.call(read)).rejects.toThrow(refusal.error);
    for (const commit of refusal.commits(read.gives as never)) expect(await table.call(commit)).toBe('conflict');
    expect(await table.items()).toEqual([item]);
  });
});
