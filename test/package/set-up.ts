import type { TestProject } from 'vitest/node';
import { oldestNode } from './oldest-node.ts';
import { packTarball } from './tarball.ts';

declare module 'vitest' {
  /** What all tests of this folder share. */
  export interface ProvidedContext {
    readonly tarball: string;
    /** Paths of `node`, by the name of a test: the one that the project is written with, and the oldest that the package takes. */
    readonly nodes: readonly (readonly [name: string, path: string])[];
  }
}

/** Makes the tarball once; gives what takes it away. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const { path, remove } = await packTarball();
  const oldest = await oldestNode();
  project.provide('tarball', path);
  project.provide('nodes', [
    [`Node.js ${process.versions.node}`, process.execPath],
    [`Node.js ${oldest.version}`, oldest.path],
  ]);
  return remove;
}
