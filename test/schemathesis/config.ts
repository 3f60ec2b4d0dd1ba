import type { Seeded } from './seed.ts';

/** How often a part of a request is that of something that is there. */
const HIT_SHARE = 0.7;

/** Calls that end what they find, by what they name it with. */
const ENDING: Readonly<Record<string, 'name' | 'runId'>> = {
  deletePipeline: 'name',
  removeEngine: 'name',
  deleteRun: 'runId',
  stopRun: 'runId',
};

/** The configuration file of schemathesis. */
export function toConfig({ doomed, ...there }: Seeded): string {
  const { names, runIds, nodes, revisions, cursors, tokens, machines } = there;
  const dictionaries = {
    names,
    runIds,
    nodes,
    revisions,
    cursors,
    tokens,
    machines,
    doomedNames: doomed.names,
    doomedRunIds: doomed.runIds,
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
    ...Object.entries(bound).map(([part, { from, share }]) => toBinding(part, from, share)),
    ...Object.entries(ENDING).map(([operation, part]) =>
      [
        '[[operations]]',
        `include-operation-id = "${operation}"`,
        '[operations.parameters]',
        toBinding(`path.${part}`, part === 'name' ? 'doomedNames' : 'doomedRunIds'),
      ].join('\n'),
    ),
    '',
  ].join('\n');
}

function toBinding(part: string, dictionary: string, share = HIT_SHARE): string {
  return `"${part}" = { dictionary = "${dictionary}", probability = ${share} }`;
}
