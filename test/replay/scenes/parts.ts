/** What runs have beside their aggregates, and what is kept for all of them. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { AttemptResult } from '#domain/facts.ts';
import type { AttemptReport } from '#domain/report.ts';
import { RUN_STATES } from '#domain/run.ts';
import type { RunHeader } from '#ports/index.ts';
import { SAVED_AT, type SavedItem } from '../fixture.ts';
import { idOf } from './runs.ts';
import { call, type Scene } from './scene.ts';

const RUN = { id: idOf('a'), nonce: 'abcdefgh' };
const CREATED = SAVED_AT - 600_000;
const ODD = 'line\u2028 "quoted" 🚀 __proto__ #';
const long = (word: string) => JSON.stringify(Array.from({ length: 400 }, (_, at) => `${word} ${at} é`));

const fullResult: Required<AttemptResult> = {
  node: 2,
  item: 17,
  attempt: 3,
  status: 'FAILED',
  output: '{"of":"a failure"}',
  error: { name: 'BadInput', message: ODD },
  startedAt: CREATED + 1,
  endedAt: CREATED + 1_234,
};

const results: readonly AttemptResult[] = [
  {
    node: 0,
    attempt: 1,
    status: 'SUCCEEDED',
    output: '{"__proto__":{"a":1.5e-7}}',
    startedAt: CREATED,
    endedAt: CREATED,
  },
  { node: 0, attempt: 99_999, status: 'SUCCEEDED', output: 'null', startedAt: CREATED, endedAt: CREATED + 5 },
  { node: 1, attempt: 1, status: 'TIMED_OUT', startedAt: CREATED, endedAt: CREATED + 60_000 },
  { node: 1, attempt: 2, status: 'ABORTED', startedAt: CREATED, endedAt: CREATED + 60_000 },
  { node: 1, attempt: 3, status: 'SUCCEEDED', output: long('result'), startedAt: CREATED, endedAt: CREATED + 60_000 },
  { node: 2, item: 0, attempt: 1, status: 'SUCCEEDED', output: '[]', startedAt: CREATED, endedAt: CREATED + 9 },
  fullResult,
];

const report: Required<AttemptReport> = { progress: 0.25, message: ODD, at: CREATED + 7 };

const fullHeader: Required<RunHeader> = {
  id: idOf('z'),
  pipeline: 'Odd.name_1-2',
  revision: '3f9a1c',
  rev: 17,
  state: 'ABORTED',
  createdAt: CREATED - 1,
  startedAt: CREATED,
  endedAt: CREATED + 60_000,
  trigger: {
    type: 'backfill',
    by: 'ada',
    runId: idOf('p'),
    instant: '2026-11-29T00:00:00.000Z',
    previousInstant: '2026-11-28T00:00:00.000Z',
    entry: 'daily',
    backfill: '0123456789abcdef',
  },
  tags: [['team', ODD]],
  retainDays: 30,
};

const triggers = ['api', 'schedule', 'event', 'rerun', 'backfill', 'pipeline'] as const;

const headers: readonly RunHeader[] = RUN_STATES.map((state, at) => ({
  id: idOf(String.fromCharCode(97 + at)),
  pipeline: 'etl',
  revision: '3f9a1c',
  rev: at + 1,
  state,
  createdAt: CREATED + at,
  trigger: { type: triggers[at % triggers.length] as (typeof triggers)[number] },
  tags: [],
}));

const history = [
  { at: CREATED + 1, rev: 1, to: 'run', nodes: [], attempt: 0, state: 'RUNNING', reason: 'Executing' },
  { at: CREATED + 2, rev: 2, to: 'r', nodes: [0, 1, 5], attempt: 1 },
  { at: CREATED + 3, rev: 2, to: 'F', nodes: [6], items: [1, 2], attempt: 2, error: { name: 'E', message: ODD } },
  { at: CREATED + 4, rev: 2, to: 'M', nodes: [7], attempt: 1, by: 'ada', note: 'so', from: idOf('b') },
] as const;

/** A text in two chunks, as one is kept that no item can hold; so short here that people can read it. */
function chunked(key: string, text: string): SavedItem[] {
  const compressed = gzipSync(text);
  const digest = createHash('sha256').update(text).digest('base64url');
  const pk = { S: `run#${RUN.id}#${RUN.nonce}` };
  const half = Math.ceil(compressed.length / 2);
  const ttl = { N: String(Math.ceil(SAVED_AT / 1000) + 800 * 86_400) };
  const pieces = [compressed.subarray(0, half), compressed.subarray(half)];
  return [
    ...pieces.map((piece, at) => ({ pk, sk: { S: `c#${digest}#0000${at}` }, ttl, z: { B: piece.toString('base64') } })),
    { pk, sk: { S: `v#${key}` }, h: { S: digest }, n: { N: '2' }, ttl },
  ];
}

/** Parts of runs. */
export const PART_SCENES: readonly Scene[] = [
  {
    name: 'results',
    about: 'Results of attempts: of nodes and of items, of every status, short and long.',
    writes: results.map((result) => call('runs', 'putResult', RUN, result)),
    reads: [
      call('runs', 'listResults', RUN),
      call('runs', 'listResults', RUN, 1),
      call('runs', 'readResult', RUN, 2, 3, 17),
      call('runs', 'readResult', RUN, 2, 4, 17),
    ],
  },
  {
    name: 'values',
    about: 'Values of a run: its input, and a list that is long enough to be compressed.',
    writes: [
      call('runs', 'putValue', RUN, 'input', '{"day":"2026-11-30"}'),
      call('runs', 'putValue', RUN, 'items-1', long('item')),
    ],
    reads: [
      call('runs', 'readValue', RUN, 'input'),
      call('runs', 'readValue', RUN, 'items-1'),
      call('runs', 'readValue', RUN, 'none'),
    ],
  },
  {
    name: 'chunks',
    about: 'A value in two chunks, made by hand: what is really kept so takes up hundreds of kilobytes.',
    writes: [],
    items: chunked('items-9', long('piece')),
    reads: [call('runs', 'readValue', RUN, 'items-9')],
  },
  {
    name: 'history',
    about: 'Decisions that a run does not hold any more.',
    writes: [
      call('runs', 'putHistory', RUN, 1, history.slice(0, 1), CREATED),
      call('runs', 'putHistory', RUN, 2, history.slice(1), CREATED),
    ],
    reads: [call('runs', 'listHistory', RUN, CREATED)],
  },
  {
    name: 'reports',
    about: 'The last reports of attempts, one of a node and one of an item.',
    writes: [
      call('reports', 'putReport', RUN, { node: 1, attempt: 2 }, { progress: 1, at: CREATED }),
      call('reports', 'putReport', RUN, { node: 2, item: 3, attempt: 1 }, report),
    ],
    reads: [
      call('reports', 'readReport', RUN, { node: 1, attempt: 2 }),
      call('reports', 'readReport', RUN, { node: 2, item: 3, attempt: 1 }),
      call('reports', 'readReport', RUN, { node: 2, attempt: 1 }),
    ],
  },
  {
    name: 'headers',
    about: 'Lines of the list of runs: of every state and trigger, one in full, and one that was removed.',
    writes: [
      ...[...headers, fullHeader].map((header) => call('runs', 'putHeader', header)),
      call('runs', 'removeHeader', { id: idOf('y'), createdAt: CREATED }),
    ],
    reads: [
      call('runs', 'listRuns', { limit: 100 }),
      call('runs', 'listRuns', { limit: 2, pipeline: 'etl' }),
      call('runs', 'listRuns', { limit: 10, pipeline: 'Odd.name_1-2', tags: [['team', ODD]] }),
    ],
  },
  {
    name: 'memo',
    about: 'Outputs of earlier successes, short and long, and one whose time is over.',
    writes: [
      call('memo', 'write', 'a'.repeat(64), '{"rows":5}', SAVED_AT + 1),
      call('memo', 'write', 'b'.repeat(64), long('output'), SAVED_AT + 86_400_000),
      call('memo', 'write', 'c'.repeat(64), '1', SAVED_AT),
    ],
    reads: ['a', 'b', 'c', 'd'].map((letter) => call('memo', 'read', letter.repeat(64), SAVED_AT)),
  },
  {
    name: 'start-counts',
    about: 'Two starts by events in a minute: a third has no place, and each of the two is counted already.',
    writes: ['a', 'b'].map((letter) => call('startCounts', 'count', 'etl', 29_930_000, idOf(letter), 2)),
    reads: ['a', 'b', 'c'].map((letter) => call('startCounts', 'count', 'etl', 29_930_000, idOf(letter), 2)),
  },
  {
    name: 'live',
    about: 'Who looks at what live, and tickets: one that is good, and one whose time is over.',
    writes: [
      call('live', 'subscribe', 'a/b+c=', `run/${RUN.id}`, SAVED_AT + 1),
      call('live', 'subscribe', 'a/b+c=', 'pipeline/etl', SAVED_AT + 1),
      call('live', 'subscribe', 'over', 'pipeline/etl', SAVED_AT),
      call('live', 'putTicket', 'a'.repeat(64), { until: SAVED_AT + 1, by: 'ada' }),
      call('live', 'putTicket', 'b'.repeat(64), { until: SAVED_AT }),
    ],
    reads: [
      call('live', 'topicsOf', 'a/b+c='),
      call('live', 'subscribersOf', 'pipeline/etl', SAVED_AT),
      call('live', 'isAnybodyThere', SAVED_AT),
      call('live', 'isAnybodyThere', SAVED_AT + 1),
      call('live', 'takeTicket', 'a'.repeat(64), SAVED_AT),
      call('live', 'takeTicket', 'b'.repeat(64), SAVED_AT),
    ],
  },
];
