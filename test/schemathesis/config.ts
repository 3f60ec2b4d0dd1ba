import type { Seeded } from './seed.ts';

/** How often a part of a request is that of something that is there. */
const HIT_SHARE = 0.7;

/** The configuration file of schemathesis. */
export function toConfig({ names, runIds, nodes, revisions, cursors, tokens, machines }: Seeded): string {
  const dictionaries = {
    names,
    runIds,
    nodes,
    revisions,
    cursors,
    tokens,
    machines,
    nodeIds: nodes.filter((node) => !node.startsWith('b64.')),
    instants: ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00+01:00'],
  };
  const bound: Readonly<Record<string, { readonly from: keyof typeof dictionaries; readonly share?: number }>> = {
    'path.name': { from: 'names' },
    'path.runId': { from: 'runIds' },
    'path.node': { from: 'nodes' },
    'query.revision': { from: 'revisions' },
    'query.cursor': { from: 'cursors', share: 0.5 },
    'query.pipeline': { from: 'names' },
    'body.token': { from: 'tokens' },
    'body.stateMachineArn': { from: 'machines' },
    'body.reuse.runId': { from: 'runIds' },
    'body.only[*]': { from: 'nodeIds' },
    'body.to': { from: 'instants' },
  };
  return [
    'request-timeout = 30',
    'continue-on-failure = true',
    ...Object.entries(dictionaries).map(
      ([name, values]) => `[dictionaries.${name}]\nvalues = ${JSON.stringify(values)}`,
    ),
    '[parameters]',
    ...Object.entries(bound).map(
      ([part, { from, share = HIT_SHARE }]) => `"${part}" = { dictionary = "${from}", probability = ${share} }`,
    ),
    '',
  ].join('\n');
}
