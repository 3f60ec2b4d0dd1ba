/** Recorded workflows, as `millrace import wfcommons` reads them, in no time: their functions do nothing. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { importWfCommons } from '#authoring/wfcommons.ts';
import type { Scenario } from './scenario.ts';

/**
 * Reads every WfFormat file of a folder.
 * @throws InvalidDefinitionError where one cannot be imported
 */
export async function recordedScenarios(folder: string): Promise<readonly Scenario[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort();
  return Promise.all(
    files.map(async (file) => {
      const { nodes } = importWfCommons(await readFile(join(folder, file), 'utf8'), { timeScale: 0 });
      return {
        name: `${file.split('-', 1)[0]}-${nodes.length}`,
        // As they are imported, with a payload of their own, so that no outputs are passed on.
        nodes: nodes.map(({ id, dependsOn = [] }) => ({ id, dependsOn, payload: { task: id } })),
        runs: 1,
        executions: nodes.length,
      };
    }),
  );
}
