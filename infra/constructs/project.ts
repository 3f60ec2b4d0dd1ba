import { extname, join } from 'node:path';

/** The folder that holds `infra`, `functions` and `src`: the checkout, or what was built from it. */
export const PROJECT = join(import.meta.dirname, '../..');

/**
 * A source file of the project.
 * @param path below `PROJECT`, without its extension, which is that of this file: `.ts` in the checkout, `.js` once built
 */
export function sourceFile(path: string): string {
  return `${join(PROJECT, path)}${extname(import.meta.filename)}`;
}
