import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from '#local/bundling.ts';

/** The files that environments of Lambda functions run first. */
export type RuntimeEntries = {
  /** For a worker thread. */
  readonly thread: URL;
  /** For a process of its own. */
  readonly process: URL;
};

const extension = '.mjs';

/**
 * Makes the entries of environments in a folder, as plain JavaScript. Node.js could run their sources, but every thread
 * and every process would load its stripper of types anew: 30 ms and 70 ms each.
 */
export async function buildRuntimeEntries(folder: string): Promise<RuntimeEntries> {
  const source = (name: string) => path.join(import.meta.dirname, `${name}${path.extname(import.meta.filename)}`);
  const outdir = path.resolve(folder);
  await bundle({
    entryPoints: [source('lambda-worker'), source('lambda-process')],
    outdir,
    outExtension: { '.js': extension },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    logLevel: 'silent',
  });
  const entry = (name: string) => pathToFileURL(path.join(outdir, `${name}${extension}`));
  return { thread: entry('lambda-worker'), process: entry('lambda-process') };
}
