/** Small scenarios every crash of which is played, and every two crashes. */
import { createMemoryStartCounts } from '#adapters/memory/memory-start-counts.ts';
import type { NodeDefinition } from '#domain/definition.ts';
import { putPipeline } from '#scheduler/put-pipeline.ts';
import { posts, requests } from './exhaustive-callers.ts';
import { inPipelineWorld, inWorld, type SmallEnd, type SmallScenario } from './exhaustive-worlds.ts';
import { SCENARIOS } from './scenarios.ts';
import type { Scenario, Script } from './world.ts';

function node(id: string, dependsOn: string[] = [], more: Partial<NodeDefinition> = {}): NodeDefinition {
  return { id, dependsOn, params: { function: 'f', payload: {} }, ...more };
}

const SECOND = 1_000;
const BROKEN: Script = { durationMs: SECOND, end: { status: 'FAILED', error: { name: 'Broken', message: 'told so' } } };
const SLOW: Script = { durationMs: 30 * SECOND, end: { status: 'SUCCEEDED', output: '{}' } };
const FIRST_RUN = 'a'.repeat(26);

/** How those end that a stop or a pause races, and how many ticks those take at most that have to wait. */
const ENDS: ReadonlyMap<string, Partial<SmallEnd>> = new Map([
  ['timeout', { calmTicks: 1 }],
  ['stop race', { ends: ['SUCCEEDED S', 'ABORTED A'] }],
  ['stop while waiting for a retry', { ends: ['ABORTED AA'], calmTicks: 1 }],
  ['pause and resume', { calmTicks: 1 }],
  ['stop while paused', { ends: ['ABORTED SA', 'ABORTED AA'], calmTicks: 6 }],
]);

const FROM_LIST: readonly SmallScenario[] = SCENARIOS.map((scenario) => {
  const { name, expected } = scenario;
  const ends = expected ? [`${expected.state} ${expected.nodes}`] : [];
  return inWorld(name, { ends, ...ENDS.get(name) }, () => scenario);
});

const map: Scenario = {
  name: 'map',
  definition: {
    name: 'map',
    nodes: [
      node('each', [], { map: { items: [1, 2, 3], maxConcurrency: 2, toleratedFailureCount: 1 } }),
      node('b', ['each']),
    ],
  },
  script: (_id, _attempt, item) => (item === 1 ? BROKEN : undefined),
};

/** Its node outlasts several ticks. */
const long: Scenario = {
  name: 'long node',
  definition: { name: 'long', nodes: [node('a')] },
  script: () => ({ durationMs: 400 * SECOND, end: { status: 'SUCCEEDED', output: '{}' } }),
};

const engineGone: Scenario = {
  name: 'engine gone',
  definition: { name: 'gone', nodes: [node('a'), node('b', ['a'])] },
  engineGone: { fromMs: 500, toMs: 90 * SECOND },
};

/** A client starts a run over the API, and with the same key again until it is answered. */
const start = (): Scenario => ({
  name: 'start',
  definition: { name: 'start', nodes: [node('a')] },
  users: [[posts(5 * SECOND, '/v1/pipelines/start/runs', 'key')]],
});

/** Another system asks for the end of a run by an event, and for a run by the next. */
const request = (): Scenario => {
  const counts = createMemoryStartCounts();
  const stops = { id: 'event-1', detailType: 'StopRequested', detail: { runId: FIRST_RUN } };
  const starts = { id: 'event-2', detailType: 'RunRequested', detail: { pipeline: 'request' } };
  return {
    name: 'request',
    definition: { name: 'request', nodes: [node('a')] },
    script: (_id, _attempt, _item, _payload, run) => (run?.id === FIRST_RUN ? SLOW : undefined),
    users: [[requests(5 * SECOND, stops, counts), requests(6 * SECOND, starts, counts)]],
  };
};

const schedule = inPipelineWorld({
  name: 'schedule',
  acts: () => [
    {
      atMs: SECOND,
      async ask(deps) {
        const definition = { name: 'daily', nodes: [node('a')], schedule: [{ id: 'once', cron: '1 12 * * *' }] };
        return (await putPipeline(deps, { definition, revision: 'rev1' })).kind !== 'busy';
      },
    },
  ],
  lastMs: 900 * SECOND,
  ends: ['2026-11-30T12:01:00.000Z SUCCEEDED S'],
});

/** All of them, those whose pairs are played first at the beginning. */
export const SMALL_SCENARIOS: readonly SmallScenario[] = [
  ...FROM_LIST,
  inWorld('map', { ends: ['SUCCEEDED SS'] }, () => map),
  inWorld('long node', { ends: ['SUCCEEDED S'], calmTicks: 6 }, () => long),
  inWorld('engine gone', { ends: ['SUCCEEDED SS'], calmTicks: 3 }, () => engineGone),
  inWorld('start', { ends: ['SUCCEEDED S'], count: 2 }, start),
  inWorld('request', { ends: ['ABORTED A', 'SUCCEEDED S'], count: 2 }, request),
  schedule,
];
