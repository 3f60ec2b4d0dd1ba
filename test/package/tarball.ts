import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The checkout. */
export const CHECKOUT = join(import.meta.dirname, '../..');

/** What a fresh checkout would not have. */
const NOT_COPIED = new Set(['node_modules', '.git', 'dist', 'cdk.out', '.millrace', 'coverage']);

/** Packs a copy of the checkout, since npm writes another package.json while it packs. */
export async function packTarball(): Promise<{ readonly path: string; readonly remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-pack-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    return { path: await packInto(folder), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function packInto(folder: string): Promise<string> {
  const copy = join(folder, 'checkout');
  for (const entry of await readdir(CHECKOUT)) {
    if (!NOT_COPIED.has(entry) && !entry.endsWith('.tgz')) {
      await cp(join(CHECKOUT, entry), join(copy, entry), { recursive: true });
    }
  }
  await symlink(join(CHECKOUT, 'node_modules'), join(copy, 'node_modules'));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: copy });
  const filename = /"filename": "([^"]+)"/.exec(stdout)?.[1];
  if (filename === undefined) throw new Error(`npm pack names no file:\n${stdout}`);
  await rm(copy, { recursive: true });
  return join(folder, filename);
}
