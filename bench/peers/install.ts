/**
 * Installs what peers need, from the pinned manifests in their folders, into a cache outside of every manifest of
 * Millrace. An installation is kept until its manifest, or a program beside it, changes.
 */
import { createHash } from 'node:crypto';
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Say, Unavailable } from './peer.ts';
import { run } from './process.ts';

const sources = fileURLToPath(new URL('./', import.meta.url));
const installed = fileURLToPath(new URL('../../node_modules/.cache/millrace/peers/', import.meta.url));
/** Holds the hash of the files that an installation was made from. */
const STAMP = '.installed';
/** How much of an installer's complaint is shown. */
const REASON_CHARACTERS = 300;
/** What the peer's folder has for us, not for the installation. */
const OURS = /\.ts$|^__pycache__$/;

/** Where a peer is installed. */
export function folderOf(name: string): string {
  return join(installed, name);
}

/**
 * Installs npm packages by `package.json` and `package-lock.json`.
 * @throws Unavailable where the registry cannot be reached
 */
export async function installNode(name: string, say: Say): Promise<string> {
  return install(name, 'package-lock.json', async (folder) => {
    say('npm ci');
    await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder });
  });
}

/**
 * Installs Python packages by `requirements.txt` into a virtual environment.
 * @throws Unavailable where there is no Python of at least 3.10, or no registry
 */
export async function installPython(name: string, say: Say): Promise<string> {
  return install(name, 'requirements.txt', async (folder) => {
    say('python3 -m venv');
    await run('python3', ['-c', 'import sys, venv; assert sys.version_info >= (3, 10), sys.version']);
    await run('python3', ['-m', 'venv', '--clear', 'venv'], { cwd: folder });
    say('pip install');
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--requirement', 'requirements.txt'];
    await run(join(folder, 'venv/bin/python'), pip, { cwd: folder });
  });
}

async function install(name: string, manifest: string, fetchPackages: (folder: string) => Promise<void>) {
  const source = join(sources, name);
  const folder = folderOf(name);
  const files = (await readdir(source)).filter((file) => !OURS.test(file)).sort();
  const stamp = await hashOf(
    source,
    files.filter((file) => file === manifest),
  );
  const had = await readFile(join(folder, STAMP), 'utf8').catch(() => '');
  if (had !== stamp) await rm(folder, { recursive: true, force: true });
  for (const file of files) await cp(join(source, file), join(folder, file), { recursive: true });
  if (had === stamp) return folder;
  try {
    await fetchPackages(folder);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replaceAll(/\s+/g, ' ').slice(0, REASON_CHARACTERS) : cause;
    throw new Unavailable(`it could not be installed: ${reason}`, { cause });
  }
  await writeFile(join(folder, STAMP), stamp);
  return folder;
}

async function hashOf(folder: string, files: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(process.version);
  for (const file of files) hash.update(await readFile(join(folder, file)));
  return hash.digest('hex');
}
