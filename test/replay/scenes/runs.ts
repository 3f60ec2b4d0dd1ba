/** Runs in the states that they can be found in. */

import { REASONS } from '#domain/reasons.ts';
import type {
  ApprovalAnswer,
  Decision,
  Flight,
  MapState,
  NodeMark,
  RunLimit,
  RunRecord,
  RunTrigger,
  StopOrder,
} from '#domain/run.ts';
import { SAVED_AT } from '../fixture.ts';
import { call, type Scene } from './scene.ts';

/** When every run was created (ms since the epoch). */
const CREATED = SAVED_AT - 600_000;
const LAMBDA = 'arn:aws:states:us-east-1:123456789012:stateMachine:millrace-lambda';
const SPARK = 'arn:aws:states:us-east-1:123456789012:stateMachine:spark';

/** A run id, different for each letter. */
export const idOf = (letter: string) => letter.repeat(26);

/** A run of three nodes whose first one runs, with what is different about it. */
function run(letter: string, fields: Partial<RunRecord> = {}): RunRecord {
  return {
    schemaVersion: 1,
    id: idOf(letter),
    pipeline: 'etl',
    revision: '3f9a1c',
    nonce: 'abcdefgh',
    secret: 'c2VjcmV0c2VjcmV0c2VjcmV0',
    rev: 2,
    state: 'RUNNING',
    reason: 'Executing',
    since: CREATED + 20,
    createdAt: CREATED,
    startedAt: CREATED + 20,
    trigger: { type: 'api' },
    tags: [],
    inputHash: '0f3e',
    nodes: 'rpp',
    machines: [LAMBDA],
    flights: [flight(0)],
    decisions: [decision(1, [], { to: 'run', attempt: 0, state: 'RUNNING', reason: 'Executing' }), decision(2, [0])],
    announced: { rev: 1, state: 'RUNNING' },
    dueAt: CREATED + 60_000,
    ...fields,
  };
}

function flight(node: number, fields: Partial<Flight> = {}): Flight {
  return {
    node,
    attempt: 1,
    phase: 'running',
    startedAt: CREATED + 20,
    since: CREATED + 170,
    pollAt: CREATED + 60_000,
    polls: 0,
    machine: 0,
    confirmed: true,
    ...fields,
  };
}

function decision(rev: number, nodes: readonly number[], fields: Partial<Decision> = {}): Decision {
  return { at: CREATED + rev * 10, rev, to: 'r', nodes, attempt: 1, ...fields };
}

/** A run that is over, and owes nothing more. */
function over(letter: string, fields: Partial<RunRecord>): RunRecord {
  const { dueAt: _, ...rest } = run(letter, {
    rev: 9,
    endedAt: CREATED + 90_000,
    since: CREATED + 90_000,
    flights: [],
  });
  const ended = { ...rest, ...fields };
  return { ...ended, announced: { rev: ended.rev, state: ended.state } };
}

const error = { name: 'BadInput', message: 'no rows: "x" \u2028 🚀' };

const answer: Required<ApprovalAnswer> = {
  at: CREATED + 95_000,
  approve: true,
  output: 'answer-1',
  by: 'ada',
  comment: 'looks right',
};

/** Every field of an attempt that there is, whether they go together or not. */
const fullFlight: Required<Flight> = {
  ...flight(2),
  item: 7,
  attempt: 3,
  phase: 'stopping',
  ending: 'EngineError',
  error,
  missingSince: CREATED + 40_000,
  throttled: true,
  heardAt: CREATED + 39_000,
  prompt: 'Shall it go on?',
  answer,
};

const endings = [
  'Stopped',
  'FailFast',
  'RunTimedOut',
  'TimedOut',
  'HeartbeatTimeout',
  'EngineError',
  'Marked',
] as const;

const map: Required<MapState> = {
  node: 2,
  total: 100,
  next: 40,
  succeeded: 30,
  failed: 2,
  list: 'items-2',
  ahead: [50, 51, 60],
  firstBad: { item: 7, error },
};

const mark: Required<NodeMark> = {
  node: 1,
  state: 'SUCCEEDED',
  at: CREATED + 50_000,
  output: 'marked-1',
  by: 'ada',
  note: 'checked by hand',
};

const limit: Required<RunLimit> = {
  limit: 'engine/spark',
  taken: 7,
  returned: 3,
  released: 2,
  held: 1,
  waiting: { need: 2, priority: -5, since: CREATED + 30_000 },
  row: { wants: 9, priority: -5, since: CREATED + 30_000 },
};

const fullTrigger: Required<RunTrigger> = {
  type: 'backfill',
  by: 'ada',
  runId: idOf('p'),
  instant: '2026-11-29T00:00:00.000Z',
  previousInstant: '2026-11-28T00:00:00.000Z',
  entry: 'daily',
  backfill: '0123456789abcdef',
};

const fullDecision: Required<Decision> = {
  at: CREATED + 100,
  rev: 10,
  to: 'F',
  nodes: [2],
  items: [3, 4, 9],
  attempt: 2,
  state: 'STOPPING',
  reason: 'Stopping',
  error,
  by: 'ada',
  note: 'enough',
  from: idOf('q'),
  times: { startedAt: CREATED - 5_000, endedAt: CREATED - 1_000 },
};

const stop: Required<StopOrder> = { kind: 'user', at: CREATED + 80_000, by: 'ada' };

/** Every field of a run that there is. A new field belongs here, and into a new fixture. */
const everything: Required<RunRecord> = {
  ...run('e'),
  rev: 12,
  state: 'STOPPING',
  reason: 'Stopping',
  startedAt: CREATED + 20,
  endedAt: CREATED + 99_000,
  trigger: fullTrigger,
  parent: { run: idOf('p'), nonce: 'hgfedcba', node: 4, item: 2, attempt: 1 },
  depth: 3,
  tags: [
    ['team', 'data'],
    ['__proto__', ''],
  ],
  retainDays: 30,
  nodes: 'rpmS',
  machines: [LAMBDA, SPARK],
  flights: [flight(0, { phase: 'starting', confirmed: false, throttled: true }), fullFlight],
  maps: [map],
  branches: [{ node: 3, chosen: [4, 9] }],
  queued: [{ node: 1, since: CREATED + 1_000, until: CREATED + 61_000 }],
  limits: [limit],
  marks: [mark],
  stop,
  deleted: { at: CREATED + 98_000, by: 'ada' },
  firstBad: { node: 3, error },
  error,
  outputKey: 'output/0123456789abcdef',
  decisions: [fullDecision],
  watchedUntil: CREATED + 200_000,
  announced: { rev: 11, state: 'RUNNING' },
  dueAt: CREATED + 120_000,
};

const VECTOR = 'pqyngeormwSCMFXLEGIxTHQOAfdKkBNzU';

/** The runs and what they are. */
const RUNS: readonly (readonly [string, string, RunRecord])[] = [
  ['running', 'A run of three nodes whose first one runs.', run('a')],
  ['everything', 'A run in which every field is filled in, whether they go together or not.', everything],
  [
    'new',
    'A run that was just made and that no pass has seen.',
    run('b', { rev: 1, state: 'QUEUED', reason: 'RunLimit', nodes: 'ppp', machines: [], flights: [], decisions: [] }),
  ],
  [
    'by-schedule',
    'A run that waits for its turn and stands for an instant of a schedule.',
    run('c', {
      state: 'QUEUED',
      reason: 'ActiveRunsLimit',
      trigger: {
        type: 'schedule',
        entry: '0',
        instant: '2026-11-30T08:00:00.000Z',
        previousInstant: '2026-11-29T08:00:00.000Z',
      },
      nodes: 'ppp',
      flights: [],
      limits: [
        {
          limit: 'pipeline/etl',
          taken: 0,
          returned: 0,
          released: 0,
          held: 0,
          waiting: { need: 1, priority: 0, since: CREATED },
          row: { wants: 1, priority: 0, since: CREATED },
        },
      ],
    }),
  ],
  [
    'map',
    'A run with a map: items that run, failed and wait for their next attempt, and items that a re-run took over.',
    run('d', {
      nodes: 'Smp',
      maps: [
        {
          node: 1,
          total: 9,
          next: 5,
          succeeded: 2,
          failed: 1,
          list: 'items-1',
          firstBad: { item: 1, error },
          ahead: [7],
        },
      ],
      flights: [
        flight(1, { item: 2 }),
        flight(1, { item: 3, attempt: 2, phase: 'retry', pollAt: CREATED + 30_000 }),
        flight(1, { item: 4, phase: 'queued' }),
      ],
      decisions: [decision(5, [1], { items: [2, 3, 4] }), decision(6, [1], { to: 'F', items: [1] })],
    }),
  ],
  [
    'empty-map',
    'A run whose map has no items yet decided.',
    run('f', {
      nodes: 'mpp',
      maps: [{ node: 0, total: 0, next: 0, succeeded: 0, failed: 0, list: 'items-0' }],
      flights: [],
    }),
  ],
  [
    'parent',
    'A run whose node is the run of another pipeline.',
    run('g', {
      flights: [flight(0, { machine: 0 })],
      limits: [{ limit: 'pool/db', taken: 1, returned: 0, released: 0, held: 0 }],
    }),
  ],
  [
    'child',
    'A run that a node of another run started.',
    run('h', {
      trigger: { type: 'pipeline', runId: idOf('g') },
      parent: { run: idOf('g'), nonce: 'abcdefgh', node: 0, attempt: 1 },
      depth: 1,
    }),
  ],
  [
    'paused',
    'A run that is paused while an attempt goes on.',
    run('i', {
      state: 'PAUSED',
      reason: 'RunPaused',
      decisions: [decision(3, [], { to: 'run', attempt: 0, state: 'PAUSED', by: 'ada' })],
    }),
  ],
  [
    'stopping',
    'A run that is being stopped: an attempt for each way in which one can be ended.',
    run('j', {
      state: 'STOPPING',
      reason: 'Stopping',
      stop: { kind: 'user', at: CREATED + 30_000, by: 'ada' },
      nodes: 'rrrrrrrrrr',
      flights: endings.map((ending, node) =>
        flight(node, { phase: 'stopping', ending, ...(ending === 'EngineError' && { error }) }),
      ),
    }),
  ],
  ...(['timeout', 'failFast', 'overlap'] as const).map(
    (kind, at) =>
      [
        `stop-${kind.toLowerCase()}`,
        `A run that ends early: ${kind}.`,
        run(['k', 'l', 'm'][at] as string, {
          state: 'STOPPING',
          reason: 'Stopping',
          stop: { kind, at: CREATED + 30_000 },
        }),
      ] as const,
  ),
  [
    'waiting',
    'A run that holds slots of an engine and a pool and waits for more.',
    run('n', {
      nodes: 'reop',
      limits: [
        {
          limit: 'engine/spark',
          taken: 4,
          returned: 3,
          released: 3,
          held: 1,
          waiting: { need: 1, priority: 10, since: CREATED + 500 },
        },
        {
          limit: 'pool/db',
          taken: 1,
          returned: 1,
          released: 0,
          held: 0,
          row: { wants: 2, priority: 0, since: CREATED },
        },
      ],
      queued: [{ node: 1, since: CREATED + 500, until: CREATED + 600_500 }],
    }),
  ],
  [
    'approval',
    'A run that waits for an answer to one approval and has got one to another.',
    run('o', { flights: [flight(0, { prompt: 'Go on?' }), flight(1, { prompt: 'And this?', answer })], nodes: 'rrp' }),
  ],
  [
    'marked',
    'A run in which users gave nodes their states by hand.',
    run('p', {
      marks: [
        { node: 0, state: 'FAILED', at: CREATED + 5_000 },
        { node: 1, state: 'SKIPPED', at: CREATED + 6_000, by: 'ada' },
        mark,
      ].toSorted((a, b) => a.node - b.node) as NodeMark[],
      decisions: [decision(4, [2], { to: 'M', by: 'ada', note: 'so' })],
    }),
  ],
  [
    'rerun',
    'A re-run that took over what an earlier run had done.',
    run('q', {
      trigger: { type: 'rerun', runId: idOf('a'), by: 'ada' },
      nodes: 'SNr',
      flights: [flight(2, { heardAt: CREATED + 30_000 })],
      decisions: [
        decision(1, [0], {
          to: 'S',
          attempt: 0,
          from: idOf('a'),
          times: { startedAt: CREATED - 90_000, endedAt: CREATED - 80_000 },
        }),
      ],
    }),
  ],
  [
    'branch',
    'A run whose branch node chose.',
    run('r', { nodes: 'SrB', branches: [{ node: 0, chosen: [1] }], flights: [flight(1)] }),
  ],
  [
    'succeeded',
    'A run that succeeded, with an output.',
    over('s', { state: 'SUCCEEDED', reason: 'Completed', nodes: 'SCM', outputKey: 'output/abc' }),
  ],
  [
    'failed',
    'A run that failed, and is kept for a week.',
    over('t', { state: 'FAILED', reason: 'NodeFailed', nodes: 'SFU', firstBad: { node: 1, error }, retainDays: 7 }),
  ],
  [
    'timed-out',
    'A run whose time was over.',
    over('u', {
      state: 'TIMED_OUT',
      reason: 'TimedOut',
      nodes: 'Sdd',
      stop: { kind: 'timeout', at: CREATED + 80_000 },
    }),
  ],
  [
    'aborted',
    'A run that was stopped.',
    over('v', { state: 'ABORTED', reason: 'Stopped', nodes: 'SAA', stop: { kind: 'user', at: CREATED + 80_000 } }),
  ],
  [
    'deleted',
    'A run that is to be deleted, of which something is left.',
    over('w', {
      state: 'ABORTED',
      reason: 'Stopped',
      nodes: 'SAA',
      deleted: { at: CREATED + 95_000 },
      dueAt: CREATED + 120_000,
    }),
  ],
  [
    'stand-in',
    'A run whose revision cannot be read: a stand-in for it ends what is under way.',
    run('x', {
      state: 'STOPPING',
      reason: 'Stopping',
      stop: { kind: 'fault', at: CREATED + 30_000 },
      error: { name: 'Millrace.InternalError', message: 'its revision cannot be read' },
    }),
  ],
  [
    'letters',
    'A run with a node of every status, and decisions with every reason.',
    run('y', { nodes: VECTOR, decisions: REASONS.map((reason, at) => decision(at + 1, [at], { to: 'q', reason })) }),
  ],
];

/** Runs, each alone in its table; what is due of them shows in the index. */
export const RUN_SCENES: readonly Scene[] = RUNS.map(([name, about, record]) => ({
  name: `run-${name}`,
  about,
  writes: [call('runs', 'createRun', record)],
  reads: [call('runs', 'readRun', record.id), call('due', 'due', SAVED_AT)],
}));
