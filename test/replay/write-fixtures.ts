/**
 * `node test/replay/write-fixtures.ts`: saves each scene that has no fixture in the folder of the present layout. What is
 * there is never written again: it stands for tables that are out there.
 */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startDynalite } from '../contract/tables.ts';
import { type Fixture, layoutFolder, PRESENT_LAYOUT } from './fixture.ts';
import { LIMIT_SCENES } from './scenes/limits.ts';
import { PART_SCENES } from './scenes/parts.ts';
import { RUN_SCENES } from './scenes/runs.ts';
import type { Scene } from './scenes/scene.ts';
import { openStoredTable } from './stored-table.ts';

const server = await startDynalite();
const folder = layoutFolder(PRESENT_LAYOUT);
await mkdir(folder, { recursive: true });
for (const scene of [...RUN_SCENES, ...PART_SCENES, ...LIMIT_SCENES]) {
  const file = join(folder, `${scene.name}.json`);
  if (existsSync(file)) continue;
  await writeFile(file, `${JSON.stringify(await save(scene), null, 2)}\n`);
  process.stdout.write(`${scene.name}\n`);
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
