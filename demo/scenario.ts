import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';
import { forMonths } from '../examples/flight-delays/months.ts';

/** The folder of the example: its pipeline and functions. */
export const exampleFolder = fileURLToPath(new URL('../examples/flight-delays/', import.meta.url));

/** What the demo runs, and on what. */
export interface Scenario {
  readonly name: string;
  /** The definition as it is put. */
  readonly text: string;
  readonly type: 'application/yaml' | 'application/json';
  /** Direct upstreams of each node. */
  readonly upstreams: ReadonlyMap<string, readonly string[]>;
  readonly input: {
    readonly dataFolder: string;
    readonly file: string;
    readonly months: readonly string[];
    readonly workFolder: string;
    readonly lateShareLimit: number;
    readonly failingAttempts: number;
  };
}

const definitionSchema = z.looseObject({
  name: z.string(),
  nodes: z.array(z.looseObject({ id: z.string(), dependsOn: z.array(z.string()).default([]) })),
});

/** Prepares the quarter of `flights-20k.json`, or the half year of `flights-3m.parquet`. */
export async function prepare(options: { large: boolean; limit: number; workFolder: string }): Promise<Scenario> {
  const months = Array.from({ length: options.large ? 6 : 3 }, (_, index) => `2001-0${index + 1}`);
  const yaml = await readFile(join(exampleFolder, 'pipeline.yaml'), 'utf8');
  const original: unknown = parse(yaml);
  const definition = forMonths(original, months);
  const { name, nodes } = definitionSchema.parse(definition);
  return {
    name,
    text: definition === original ? yaml : JSON.stringify(definition),
    type: definition === original ? 'application/yaml' : 'application/json',
    upstreams: new Map(nodes.map(({ id, dependsOn }) => [id, dependsOn])),
    input: {
      dataFolder: join(dirname(fileURLToPath(import.meta.resolve('vega-datasets'))), '..', 'data'),
      file: options.large ? 'flights-3m.parquet' : 'flights-20k.json',
      months,
      workFolder: options.workFolder,
      lateShareLimit: options.limit,
      failingAttempts: 1,
    },
  };
}
