/**
 * `node test/replay/write-fixtures.ts`: saves each scene that has no fixture in the folder of the present layout. What is
 * there is never written again: it stands for tables that are out there.
 */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '#domain/json.ts';
import { startDynalite } from '../contract/tables.ts';
import { type Fixture, layoutFolder, PRESENT_LAYOUT } from './fixture.ts';
import { LIMIT_SCENES } from './scenes/limits.ts';
import { PART_SCENES } from './scenes/parts.ts';
import { RUN_SCENES } from './scenes/runs.ts';
import type { Scene } from './scenes/scene.ts';
import { WORLD_SCENES, type WorldScene } from './scenes/worlds.ts';
import { openStoredTable } from './stored-table.ts';
import { openWorld, type SavedWorld, worldsFolder } from './world.ts';

const server = await startDynalite();
const folder = layoutFolder(PRESENT_LAYOUT);
await mkdir(folder, { recursive: true });
for (const scene of [...RUN_SCENES, ...PART_SCENES, ...LIMIT_SCENES]) {
  const file = join(folder, `${scene.name}.json`);
  if (existsSync(file)) continue;
  await writeFile(file, `${JSON.stringify(await save(scene), null, 2)}\n`);
  process.stdout.write(`${scene.name}\n`);
}
await mkdir(worldsFolder(PRESENT_LAYOUT), { recursive: true });
for (const scene of WORLD_SCENES) {
  const file = join(worldsFolder(PRESENT_LAYOUT), `${scene.name}.json`);
  if (existsSync(file)) continue;
  await writeFile(file, `${JSON.stringify(await saveWorld(scene), null, 2)}\n`);
  process.stdout.write(`worlds/${scene.name}\n`);
}
await server.close();

async function save({ about, writes, items, reads }: Scene): Promise<Fixture> {
  const table = await openStoredTable(server);
  for (const write of writes) await table.call(write);
  if (items) await table.load(items);
  const saved = await table.items();
  const answered = [];
  for (const read of reads) answered.push({ ...read, gives: await table.call(read) });
  return { about, writes, items: saved, reads: answered };
}

/** The ends are those that the present code comes to from what was saved: look at them. */
async function saveWorld({ about, behave, play }: WorldScene): Promise<SavedWorld> {
  const world = await openWorld(server, behave);
  const { runs, goesOnWith } = await play(world);
  const items = await world.table.items();
  const executions = [...world.api.executions.started.values()].map((one) => ({ ...one }));
  const reads = [];
  for (const path of runs.flatMap(viewsOf)) {
    reads.push({ path, gives: withoutSentences(await world.ask({ method: 'GET', path })) });
  }
  const saved = { about, now: world.api.time.now, items, executions, reads, goesOnWith: [...goesOnWith], ends: [] };
  const later = await openWorld(server);
  await later.load(saved);
  for (const request of goesOnWith) await later.ask(request);
  return { ...saved, ends: await later.carryOn(runs) };
}

function viewsOf(run: string): string[] {
  return ['', '/nodes', '/history', '/explain'].map((view) => `/v1/runs/${run}${view}`);
}

/** A reason says the same for ever; the sentence beside it may be put better. */
function withoutSentences(view: Json): Json {
  return JSON.parse(JSON.stringify(view), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('reason' in value && 'message' in value)) return value;
    const { message: _sentence, ...rest } = value;
    return rest;
  });
}
