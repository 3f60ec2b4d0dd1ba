/** Pipelines whose runs stand in every way that a run can: over, failed, waiting for this and that, asked, under way. */
import type { Json } from '#domain/json.ts';

/** The engine and the pool that runs hold slots of. Both have the name of a pipeline: paths take names from one list. */
export const HELD = 'seeded-holding';

/** An id that paths hold in its other form. */
export const ODD_ID = 'a/b ✓';

/** Ids of the nodes: pipelines share them, so that paths of a run and a node by chance hit something. */
export const NODE_IDS = ['one', ODD_ID, 'three', 'four'];

const quick = { params: { function: 'quick' } };
const missing = { params: { function: 'nothing-has-this-name' } };
const slow = { params: { function: 'slow', payload: {} } };

/** A pipeline to put. */
export interface SeedPipeline {
  readonly name: string;
  readonly [field: string]: Json;
}

/** Each of them gets two runs. */
export const PIPELINES: readonly SeedPipeline[] = [
  {
    name: 'seeded-map',
    nodes: [
      { id: 'one', ...quick },
      { id: ODD_ID, dependsOn: ['one'], map: { items: [1, 2, 3] }, ...quick },
      { id: 'three', dependsOn: ['one'], params: { function: 'large' } },
    ],
    output: { done: true },
  },
  {
    name: 'seeded-failing',
    nodes: [
      { id: 'one', ...quick },
      { id: ODD_ID, dependsOn: ['one'], ...missing },
      { id: 'three', dependsOn: [ODD_ID], ...quick },
    ],
  },
  {
    name: 'seeded-nowhere',
    nodes: [
      { id: 'one', engine: 'nowhere' },
      { id: ODD_ID, engine: 'nowhere', map: { items: [1, 2] } },
    ],
  },
  {
    name: 'seeded-asking',
    nodes: [
      { id: 'one', engine: 'approval', params: { prompt: 'Go on?', output: { type: 'object' } } },
      { id: ODD_ID, engine: 'approval', map: { items: [1, 2] }, params: { prompt: 'And this?' } },
    ],
  },
  {
    name: HELD,
    concurrency: { maxActiveRuns: 1, onOverlap: 'queue' },
    nodes: [
      { id: 'one', engine: HELD, ...slow, heartbeatSeconds: 3600 },
      { id: ODD_ID, pool: HELD, map: { items: [1, 2, 3] }, ...slow },
      { id: 'three', ...missing, retry: { maxAttempts: 3, intervalSeconds: 3600 } },
      { id: 'four', engine: HELD, ...slow },
    ],
  },
  {
    name: 'seeded-choice',
    nodes: [
      { id: 'one', engine: 'pass', params: { output: ODD_ID }, branch: '{% $output %}' },
      { id: ODD_ID, dependsOn: ['one'], engine: 'pipeline', params: { pipeline: 'seeded-map' } },
      { id: 'three', dependsOn: ['one'], ...quick },
      { id: 'four', when: '{% false %}', ...quick },
    ],
  },
  {
    name: 'seeded-schedule',
    schedule: [
      { id: 'daily', cron: '0 3 * * *', timezone: 'Europe/Berlin', catchUp: 'latest' },
      { id: 'hourly', rate: '1 hour' },
    ],
    nodes: [{ id: 'one', ...quick }],
  },
  {
    name: 'seeded-refused',
    schedule: [{ id: 'minutely', cron: '* * * * *', input: { rows: 'many' } }],
    input: { schema: { properties: { rows: { type: 'number' } } } },
    nodes: [{ id: 'one', ...quick }],
  },
];
