/** Installations that another version left in mid-run: what today's code shows of them, and how it carries them on. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDynalite, type TableServer } from '../contract/tables.ts';
import { madeNewer, type SavedItem } from './fixture.ts';
import { openWorld, readWorlds } from './world.ts';

const worlds = await readWorlds();

let server: TableServer;
beforeAll(async () => {
  server = await startDynalite();
});
afterAll(() => server.close());

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe.each(worlds)('$title', ({ saved }) => {
  it('is shown as it was', async () => {
    const world = await openWorld(server);
    await world.load(saved);
    for (const { path, gives } of saved.reads) {
      expect(await world.ask({ method: 'GET', path }), path).toMatchObject(gives as object);
    }
  });

  it('comes to the same ends, and starts nothing twice', async () => {
    const world = await openWorld(server);
    await world.load(saved);
    for (const request of saved.goesOnWith) await world.ask(request);
    expect(asJson(await world.carryOn(saved.ends.map(({ run }) => run)))).toEqual(saved.ends);
    expect([...world.api.executions.starts.values()].every((starts) => starts === 1)).toBe(true);
    const before = new Set(saved.executions.map(({ name }) => name));
    expect([...world.api.executions.starts.keys()].filter((name) => before.has(name))).toEqual([]);
  });

  it('T35 stays as it is where newer code has had its runs', async () => {
    const isRun = (item: SavedItem) => item['sk']?.S === 'run';
    const items = saved.items.map((item) => (isRun(item) ? madeNewer(item) : item));
    const world = await openWorld(server);
    await world.load({ ...saved, items });
    for (let ticks = 0; ticks < 15; ticks++) await world.tick();
    expect((await world.table.items()).filter(isRun)).toEqual(items.filter(isRun));
    expect(world.api.executions.starts.size).toBe(0);
  });
});
