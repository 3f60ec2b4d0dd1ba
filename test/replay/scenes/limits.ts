/** Limits, the runs that wait for them, and pipelines. */
import type { Backfill } from '#domain/backfill.ts';
import { READY_REASONS } from '#domain/conditions.ts';
import type { PipelineDefinition } from '#domain/definition.ts';
import type { EngineState, LimitHolder, LimitRecord, WaitingRun } from '#domain/limit.ts';
import type { HeadDeletion, HeadOrder, PipelineHead } from '#domain/pipeline-head.ts';
import { SAVED_AT } from '../fixture.ts';
import { idOf } from './runs.ts';
import { call, type Scene } from './scene.ts';

const CREATED = SAVED_AT - 600_000;

const engine: Required<EngineState> = {
  generation: 2,
  stateMachineArn: 'arn:aws:states:us-east-1:123456789012:stateMachine:spark',
  labels: [
    ['team', 'data 🚀'],
    ['__proto__', ''],
  ],
  paramsSchema: { type: 'object', properties: { n: { type: 'integer', minimum: 1e-7 } }, required: ['n'] },
  heartbeatSeconds: 30,
  lastHeartbeatAt: CREATED + 1,
  isDraining: true,
  trouble: 'its state machine is gone',
  updatedAt: CREATED,
};

const holder: Required<LimitHolder> = {
  run: idOf('b'),
  nonce: 'abcdefgh',
  pipeline: 'etl',
  granted: 5,
  returned: 2,
  unheard: true,
};

/** Every field of a limit that there is. A new field belongs here, and into a new fixture. */
const everything: Required<LimitRecord> = {
  name: 'engine/spark',
  rev: 7,
  slots: 10,
  pausedAt: CREATED + 3,
  engine,
  generations: 2,
  holders: [{ run: idOf('a'), nonce: 'hgfedcba', pipeline: 'other', granted: 3, returned: 3 }, holder],
  lastServed: 'etl',
  ringsWaiting: true,
  tellsPipelines: true,
  toldStatus: 'Draining',
  dueAt: CREATED + 60_000,
};

const { heartbeatSeconds: _h, lastHeartbeatAt: _l, isDraining: _d, trouble: _t, paramsSchema: _p, ...bare } = engine;

const LIMITS: readonly (readonly [string, string, LimitRecord])[] = [
  ['everything', 'An engine in which every field is filled in.', everything],
  [
    'engine',
    'An engine without a number of slots.',
    {
      name: 'engine/a.b-c',
      rev: 1,
      engine: { ...bare, labels: [] },
      generations: 1,
      holders: [],
      toldStatus: 'Available',
    },
  ],
  [
    'engine-gone',
    'An engine that is not registered any more, of which somebody still holds a slot.',
    { name: 'engine/old', rev: 9, generations: 3, holders: [holder], tellsPipelines: true, dueAt: CREATED },
  ],
  [
    'pool',
    'A pool that is full.',
    {
      name: 'pool/db',
      rev: 4,
      slots: 3,
      holders: [{ ...holder, unheard: false }].map(({ unheard: _, ...rest }) => rest),
      lastServed: 'etl',
    },
  ],
  [
    'pipeline',
    'The active runs of a paused pipeline.',
    { name: 'pipeline/etl', rev: 2, slots: 1, pausedAt: CREATED, holders: [] },
  ],
];

const row: Required<WaitingRun> = {
  limit: 'pool/db',
  pipeline: 'etl',
  priority: -7,
  since: CREATED + 9,
  run: idOf('c'),
  nonce: 'abcdefgh',
  rev: 4,
  taken: 1,
  wants: 3,
  isByHand: true,
};
const { isByHand: _hand, ...plainRow } = row;

const order: Required<HeadOrder> = { at: CREATED + 5, by: 'ada' };

const backfill: Required<Backfill> = {
  id: '0123456789abcdef',
  revision: '3f9a1c',
  from: CREATED - 1e9,
  to: CREATED,
  direction: 'backward',
  maxActiveRuns: 3,
  ...order,
  entries: [['0', CREATED - 1e9]],
  total: 10,
  started: 4,
  active: [idOf('a'), idOf('b')],
};

const deleting: Required<HeadDeletion> = {
  ...order,
  isForced: true,
  sweep: { after: { createdAt: CREATED, id: idOf('a') }, found: true },
};

const plainHead: PipelineHead = {
  name: 'plain',
  incarnation: 'abcdefgh',
  revision: '3f9a1c',
  version: 1,
  createdAt: CREATED,
  updatedAt: CREATED,
};

/** Every field of a head that there is. A new field belongs here, and into a new fixture. */
const fullHead: Required<PipelineHead> = {
  ...plainHead,
  name: 'etl',
  version: 12,
  ready: {
    type: 'Ready',
    status: 'False',
    reason: 'NoEngine',
    message: 'Node a needs the engine gpu, which is not there.',
    lastTransitionTime: CREATED + 1,
    observedRevision: '3f9a1c',
  },
  tells: true,
  engines: ['gpu', 'constructor'],
  paused: order,
  cursors: [['0', { timing: 'rate 60000', createdAt: CREATED, settled: CREATED + 60_000 }]],
  rejected: [{ entry: '__proto__', instant: CREATED, code: 'INVALID_INPUT', message: 'no' }],
  backfills: [backfill],
  deleting,
  dueAt: CREATED + 60_000,
};

const definition: PipelineDefinition = {
  name: 'etl',
  nodes: [
    { id: 'a', params: { function: 'f', payload: JSON.parse('{"__proto__":{"n":1.5e-7},"constructor":null}') } },
    { id: 'b 🚀', params: { function: 'f' }, dependsOn: ['a'] },
  ],
};
const longDefinition: PipelineDefinition = {
  name: 'etl',
  nodes: Array.from({ length: 60 }, (_, at) => ({ id: `node-${at}`, params: { function: 'f', payload: { at } } })),
};

/** Limits and pipelines. */
export const LIMIT_SCENES: readonly Scene[] = [
  ...LIMITS.map(([name, about, limit]) => ({
    name: `limit-${name}`,
    about,
    writes: [call('limits', 'commitLimit', limit, 0)],
    reads: [call('limits', 'readLimit', limit.name), call('due', 'due', SAVED_AT)],
  })),
  {
    name: 'waiting-runs',
    about: 'Rows of runs that wait for a limit.',
    writes: [
      row,
      { ...plainRow, priority: 1000, run: idOf('d') },
      { ...plainRow, pipeline: 'a-b', run: idOf('e') },
    ].map((one) => call('limits', 'putWaiting', one)),
    reads: [
      call('limits', 'listWaiting', 'pool/db', 10),
      call('limits', 'listWaiting', 'pool/db', 10, { pipeline: 'a-b' }),
    ],
  },
  ...[
    ['plain', 'The head of a pipeline that was just put.', plainHead] as const,
    ['everything', 'The head of a pipeline in which every field is filled in.', fullHead] as const,
    ...READY_REASONS.map(
      (reason) =>
        [
          `ready-${reason.toLowerCase()}`,
          `The head of a pipeline whose condition has the reason ${reason}.`,
          { ...plainHead, ready: { ...fullHead.ready, reason, status: 'Unknown' } } satisfies PipelineHead,
        ] as const,
    ),
  ].map(([name, about, head]) => ({
    name: `pipeline-${name}`,
    about,
    writes: [call('pipelines', 'commitHead', head, 0)],
    reads: [call('pipelines', 'readHead', head.name), call('due', 'due', SAVED_AT)],
  })),
  {
    name: 'definitions',
    about: 'Definitions of a pipeline, short and long, the entries of its revisions, and the engines that it uses.',
    writes: [
      call('pipelines', 'putDefinition', 'etl', 'abcdefgh', '3f9a1c', definition, CREATED),
      call('pipelines', 'putDefinition', 'etl', 'abcdefgh', '77bd02', longDefinition, CREATED + 1),
      call('pipelines', 'putUse', 'gpu', 'etl', 2),
    ],
    reads: [
      call('pipelines', 'readDefinition', 'etl', '3f9a1c'),
      call('pipelines', 'readDefinition', 'etl', '77bd02'),
      call('pipelines', 'listRevisions', 'etl', 'abcdefgh'),
      call('pipelines', 'listUses', 'gpu', 10),
    ],
  },
];
