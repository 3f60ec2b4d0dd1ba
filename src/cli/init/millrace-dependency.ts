import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { z } from 'zod';

const ownPackage = z.object({ name: z.literal('millrace'), version: z.string(), bin: z.unknown() });

/** What npm notes beside the packages that it installed. */
const installedPackages = z.object({ packages: z.record(z.string(), z.object({ resolved: z.string().optional() })) });

/**
 * What the package.json of a project says to get the very Millrace that runs now: the file or address that npm installed it
 * from, `^VERSION` where that was a registry, and `file:` with its folder where it is a checkout.
 * @param projectDir the folder of that package.json; `file:` counts from there
 * @param from a folder inside Millrace. @default that of this file
 */
export async function millraceDependency(projectDir: string, from = import.meta.dirname): Promise<string> {
  const { root, version } = await packageAround(from);
  const modules = dirname(root);
  if (basename(modules) !== 'node_modules') return fileDependency(projectDir, root);
  const resolved = await resolvedFrom(modules);
  if (resolved === undefined || resolved.endsWith(`/millrace/-/millrace-${version}.tgz`)) return `^${version}`;
  if (!resolved.startsWith('file:')) return resolved;
  return fileDependency(projectDir, resolve(dirname(modules), resolved.slice('file:'.length)));
}

async function packageAround(folder: string): Promise<{ readonly root: string; readonly version: string }> {
  const file = join(folder, 'package.json');
  // What was built has one more package.json, without `bin`, nearer to its files.
  const found = existsSync(file) ? ownPackage.safeParse(JSON.parse(await readFile(file, 'utf8'))) : undefined;
  if (found?.success && found.data.bin !== undefined) return { root: folder, version: found.data.version };
  return packageAround(dirname(folder));
}

/** Where npm had the package from; not known where something else than npm installed it. */
async function resolvedFrom(modules: string): Promise<string | undefined> {
  const file = join(modules, '.package-lock.json');
  if (!existsSync(file)) return undefined;
  const read = installedPackages.safeParse(JSON.parse(await readFile(file, 'utf8')));
  return read.data?.packages['node_modules/millrace']?.resolved;
}

function fileDependency(projectDir: string, target: string): string {
  return `file:${relative(projectDir, target).split(sep).join('/')}`;
}
