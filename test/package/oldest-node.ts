import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The last release of the oldest line that the package takes. */
const VERSION = '22.23.3';
const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/millrace/node22');

/**
 * A Node.js of the oldest line that the package takes, from the npm package `node`: kept in the cache of this project, since
 * in `node_modules` it would stand in the way of the one that the project is written with.
 * @throws Error where the registry does not give it
 */
export async function oldestNode(): Promise<{ readonly version: string; readonly path: string }> {
  const path = join(FOLDER, 'node_modules/node/bin/node');
  if (!existsSync(path)) {
    const words = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', FOLDER, `node@${VERSION}`];
    await run('npm', words).catch((error: Error) => {
      throw new Error(`Node.js ${VERSION}, which the package is tested with, cannot be had from the npm registry.`, {
        cause: error,
      });
    });
  }
  const { stdout } = await run(path, ['--version']);
  return { version: stdout.trim().replace(/^v/, ''), path };
}
