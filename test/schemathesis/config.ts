import type { Seeded } from './seed.ts';

/** How often a part of a path is that of something that is there. */
const HIT_SHARE = 0.7;

/** The configuration file of schemathesis. */
export function toConfig({ names, runIds, nodes }: Seeded): string {
  const dictionaries = { names, runIds, nodes };
  const bound = { name: 'names', runId: 'runIds', node: 'nodes' };
  return [
    'request-timeout = 30',
    'continue-on-failure = true',
    ...Object.entries(dictionaries).map(
      ([name, values]) => `[dictionaries.${name}]\nvalues = ${JSON.stringify(values)}`,
    ),
    '[parameters]',
    ...Object.entries(bound).map(
      ([part, dictionary]) => `"path.${part}" = { dictionary = "${dictionary}", probability = ${HIT_SHARE} }`,
    ),
    '',
  ].join('\n');
}
